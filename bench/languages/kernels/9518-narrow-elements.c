// launch 1 64 n=3
// launch 1 96 n=250
#include "prelude.h"
static SHARED s8 b[1024];
static SHARED u16 h[1024];
static SHARED _Bool flags[512];
static const CONSTANT s8 table[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16};
KERNEL void k9518(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID;
    FILL(b, 1024, (s8)(i * 7));
    FILL(h, 1024, (u16)(i * 777));
    FILL(flags, 512, (i & 5) == 5);
    s8 x = b[t] * (s8)n;
    u16 y = h[(u8)x] + (u16)(x << 3);
    s16 z = (s16)y >> 3;
    u32 a = h[(u16)(y * 31) & 1023] + b[(u16)z & 1023];
    a += b[(table[t & 15] * 31 + 500) & 1023] + h[(s32)(s8)(t * 5) + 128 & 1023];
    if (flags[(t * 9) & 511] != flags[t]) a += h[t * 2]; else b[(t * 4 + x) & 1023] = y;
    _Bool both = flags[t] && h[(t * 32) & 1023] > 300;
    a += both ? b[t * 8 & 1023] : h[(t + 7) & 1023];
    out[t] = a + (u8)b[(u8)y * 4];
}
