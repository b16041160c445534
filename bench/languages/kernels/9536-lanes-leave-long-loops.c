// launch 1 64 n=1000
// launch 2 48 n=333
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9536(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, i = 0;
    FILL(s, 1024, i);
    for (; i < n * (t & 7); i++) a += s[(i + t * 2) & 1023];
    for (i = t; i < n; i += 7) { a += s[(i * 4) & 1023]; if (s[(i + t) & 1023] == 600 + t) break; }
    for (u32 x = t * n + 1; x != 1 && i < 3000; i++) { a += s[x & 1023]; x = x & 1 ? 3 * x + 1 : x / 2; }
    while (1) {
        u32 m = __nvvm_activemask();
        a += s[(i * 32 + t) & 1023] + s[__builtin_popcount(m) * 3];
        if (i++ > n + t * 3) break;
        if ((i & 63) == 1) a += s[SHFL(m, i, __builtin_ctz(m)) & 1023];
    }
    out[t] = a;
}
