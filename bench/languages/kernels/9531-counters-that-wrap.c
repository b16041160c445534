// launch 1 64 n=3000
// launch 1 32 n=700
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9531(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i);
    u8 b = t;
    u16 h = t * 1000;
    s8 c = 100;
    for (u32 i = 0; i < n; i++, b += 3, h += 257, c += 7) {
        a += s[b * 4];
        a += s[h >> 6];
        a ^= s[(u32)(c + 128) * 2 + (t & 31)];
    }
    for (u8 i = t; i != (u8)(t + n); i++) a += s[i * 3];
    for (s64 i = 0xfffffff0ll; i < 0x100000000ll + n / 8; i++) a += s[(u32)(i >> 2) * 32 + t & 1023] + s[i >> 32];
    out[t] = a;
}
