// launch 1 64 n=2000
// launch 1 48 n=600
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9534(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, at = t, up = 1, limit = 0, seen = 0, c = 0;
    FILL(s, 1024, i);
    for (u32 i = 0; i < n; i++) {
        limit = limit + 3 < 500 ? limit + 3 : 500;
        a += s[limit + (t & 31) * 16];
        at += up;
        if (at > 900 || at < 3) up = -up;
        a += s[at & 1023];
        if (i == 777) seen = t * 32;
        a ^= s[seen & 1023];
        c = c == 6 ? 0 : c + 1;
        a += s[c * 33 + t];
        if (i > n / 2) a += s[t * 2];
        else if ((i & 127) == 5) a += s[(t * 32 + i) & 1023];
    }
    out[t] = a;
}
