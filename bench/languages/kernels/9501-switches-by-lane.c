// launch 2 64 n=5
// launch 1 96 n=2
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9501(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i * 3);
    for (u32 j = 0; j < n; j++) {
        switch ((src[t] + j) & 7) {
        case 0: a += s[t & 31]; break;
        case 1: a ^= s[(t * 2) & 1023]; /* fallthrough */
        case 2: a += s[(t * 4 + a) & 1023]; break;
        case 3: t += 3; continue;
        case 4: a += s[(t * 33) & 1023]; /* fallthrough */
        case 5: t ^= 9; break;
        case 6: if (j > 2) goto out;
        default: a -= s[(t << 5) & 1023];
        }
        s[(a + t) & 1023] = j;
    }
out:
    out[TID] = a + s[(t * 8) & 1023];
}
