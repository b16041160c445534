// launch 1 64 n=3
// launch 1 96 n=11
#include "prelude.h"
static SHARED u32 s[1024];
typedef unsigned _BitInt(37) u37;
typedef _BitInt(23) s23;
typedef unsigned _BitInt(5) u5;
struct Fields { u32 a : 5, b : 11; s32 c : 7; u64 d : 41; };
KERNEL void k9509(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i);
    u37 x = (u37)t * 0x123456789u + n;
    s23 y = (s23)(t * 70001) * (s23)-3;
    u5 z = (u5)(t * n);
    unsigned __int128 w = (unsigned __int128)t * 0x9e3779b97f4a7c15u << (t & 63);
    __int128 q = -(__int128)w / (s64)(t + 3);
    struct Fields k = {t, t * 9, (s32)t - 40, (u64)t << 33};
    a += s[(u32)(x >> 29) & 1023] + s[(u32)(y >> 4) & 1023] + s[z * 33u];
    a += s[(u32)(w >> 70) & 1023] + s[(u32)(q >> 31) & 1023] + s[(u32)(w % (t + 7))];
    a += s[k.b & 1023] + s[(k.c * 3) & 1023] + s[(u32)(k.d >> 31) & 1023];
    a += s[__builtin_bitreverse32(t) >> 22] + s[__builtin_bswap32(t * 3) >> 22] + s[__builtin_rotateleft32(t, n) & 1023];
    a += s[__builtin_clzll((u64)t * t + 1) * 16 & 1023] + s[__builtin_ctz(t | 256) * 32] + s[__builtin_popcountll(w) * 8];
    s32 sum; u32 over = __builtin_add_overflow((s32)(t << 26), (s32)(n << 28), &sum);
    a += s[over * 96 + (t & 7) * 32] + s[__builtin_elementwise_add_sat((s8)(t * 4), (s8)100) & 1023];
    a += s[(u32)__builtin_elementwise_sub_sat((u16)(t * 1024), (u16)30000) >> 6];
    a += s[((s32)t - 31) / 7 & 1023] + s[((s32)t * -5) % 13 & 1023] + s[__builtin_abs((s32)t - 20) * 32 & 1023];
    out[t] = a;
}
