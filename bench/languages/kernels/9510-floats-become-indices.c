// launch 1 64 n=3
// launch 1 32 n=11
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9510(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i);
    float x = (float)t * f - 7.25f, y = x / (float)(n + 2), z = __builtin_fmaf(x, y, f);
    double d = (double)t / 3.0 + n, e = __builtin_fma(d, d, -1.0 / (t + 1));
    _Float16 h = (_Float16)x * (_Float16)1.75f + (_Float16)n, g = h / (_Float16)3.0f;
    __bf16 b = (__bf16)x;
    a += s[(s32)x & 1023] + s[(s32)y & 1023] + s[(u32)__builtin_fabsf(z) & 1023];
    a += s[(s32)__builtin_floorf(y) & 1023] + s[(s32)__builtin_roundevenf(x) & 1023] + s[(s32)__builtin_truncf(x * 4) & 1023];
    a += s[(s32)__builtin_ceil(d) & 1023] + s[(s32)(s64)e & 1023] + s[(s32)__builtin_rint(d * 2.5) & 1023];
    a += s[(s32)h & 1023] + s[(s32)(g * (_Float16)8.0f) & 1023] + s[(s32)((float)b * 2) & 1023];
    a += s[(s32)__builtin_fmodf(x + 100, 7.5f) * 32] + s[(s32)__builtin_sqrtf((float)t * 40) * 16 & 1023];
    a += s[(u8)(x + 9) * 4] + s[(s32)(__builtin_copysignf(y, x) * 3) & 1023] + s[__builtin_fmaxf(x, y) > 3 ? t * 2 : t * 32 & 1023];
    union { float f; u32 u; } bits = {x};
    a += s[bits.u >> 22] + s[(bits.u >> 13) & 1023] + s[__builtin_isnan(x / x) * 64 + (t & 3)];
    a += s[(u64)(x * 1e6f + 2e7f) >> 14 & 1023] + s[(u32)__builtin_sqrt(d * 9) & 1023];
    out[t] = a;
}
