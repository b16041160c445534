// launch 1 32x2 n=40
// launch 2 64 n=25
#include "prelude.h"
static SHARED u32 s[4096];
KERNEL void k9537(u32 *out, const u32 *src, u32 n, float f) {
    u32 x = TID, y = TIDY, t = y * NTID + x, a = 0;
    for (u32 i = t; i < 4096; i += 64) s[i] = i;
    __syncthreads();
    for (u32 i = 0; i < n; i++)
        for (u32 j = i & 1; j < n; j += 2)
            for (u32 k = 0; k < (j & 7); k++) a += s[(i * 64 + j * 32 + k * x) & 4095];
    for (u32 stage = 0, k = 0; k < n * 4; k++, stage = stage == 2 ? 0 : stage + 1) {
        SHARED u32 *tile = s + stage * 1024;
        a += tile[(x & 31) * 32 + ((k ^ x) & 31)] + tile[(k * 33 + x * 2) & 1023];
        tile[(t * 4 + k) & 1023] = a;
        __syncthreads();
    }
    for (s32 i = n - 1; i >= 0; i--) for (s32 j = i; j > -3; j -= 3) a += s[(i * j + x) & 4095];
    out[t] = a;
}
