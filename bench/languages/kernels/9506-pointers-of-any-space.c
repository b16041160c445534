// launch 1 64 n=3
// launch 2 33 n=2
#include "prelude.h"
static SHARED u32 s[512];
static u32 g[512];
NOINLINE u32 fetch(const u32 *p, u32 i) { return p[i & 63]; }
KERNEL void k9506(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, here[64];
    FILL(s, 512, i * 5);
    for (u32 i = 0; i < 64; i++) here[i] = i + t;
    const u32 *p[4] = {(u32 *)(s + t), g, here, src};
    u32 a = 0;
    for (u32 j = 0; j < n + 3; j++) {
        a += fetch(p[(t + j) & 3], j);
        a += *p[(t >> 3) & 3];
        if (__nvvm_isspacep_shared(p[(j + t / 8) & 3])) a += p[(j + t / 8) & 3][t & 31];
    }
    u32 *q = (t & 4) ? (u32 *)(s + t * 2) : here;
    *q = a;
    out[t] = s[t & 63] + *q;
}
