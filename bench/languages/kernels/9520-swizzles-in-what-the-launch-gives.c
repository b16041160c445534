// launch 2 64 n=3 shared=8192
// launch 1 32x4 n=1 shared=8192
#include "prelude.h"
extern SHARED u32 dynamic[];
static SHARED u32 fixed[64];
KERNEL void k9520(u32 *out, const u32 *src, u32 n, float f) {
    u32 x = TID, y = TIDY, t = y * NTID + x, a = 0;
    fixed[t & 63] = t * 3;
    for (u32 stage = 0; stage < 2; stage++) {
        SHARED u32 *tile = dynamic + stage * 1024;
        for (u32 row = y; row < 32; row += 4) tile[row * 32 + ((x & 31) ^ row)] = src[row * 32 + (x & 31)];
        __syncthreads();
        for (u32 c = 0; c < 8; c++) a += tile[(x & 31) * 32 + (c ^ (x & 31))] + tile[(x & 31) * 32 + (c * n & 31)];
        u32x4 q = *(SHARED u32x4 *)(tile + ((x & 7) * 128 + ((x >> 3 ^ (x & 7)) & 7) * 4));
        a += q.x ^ q.w;
        __syncthreads();
    }
    out[t] = a + fixed[a & 63];
}
