// launch 1 64 n=7
// launch 2 80 n=10
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9513(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = t, b = n;
    FILL(s, 1024, i * 11 & 1023);
#pragma clang loop unroll_count(4)
    for (u32 i = 0; i < n + (t & 3); i++) a += s[(i * 32 + t) & 1023];
    for (u32 i = t; i; i >>= 1) {
        if ((i & 5) == 5) continue;
        u32 j = 0;
        do {
            if (s[(i + j * 4) & 1023] > 700) goto next;
            if (j == (t & 7)) break;
            b ^= s[(t * 8 + j) & 1023];
        } while (++j < n);
        a += s[b & 1023];
    next:
        b++;
    }
    for (u32 i = 0, x = 0, y = 1, z = t; i < n; i++) {
        u32 swap = x; x = y; y = z; z = swap;
        a += s[(x * 32 + y) & 1023] + s[z & 1023];
    }
#pragma nounroll
    while (a > 16) { a = a / 3; s[(a + t) & 1023] += b; }
    out[t] = a + s[t];
}
