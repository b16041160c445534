// launch 1 64 n=1500
// launch 1 32 n=333
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9532(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, x = t + 1, y = 1, z = 0, k = t, p = 1;
    FILL(s, 1024, i);
    for (u32 i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        u32 sum = y + z; z = y; y = sum & 1023;
        k = k << 1 | k >> 31;
        p = p * 5 % 1021;
        a += s[x >> 22] + s[y] + s[k & 1023] + s[p] + s[(i * i + t) & 1023] + s[(i ^ i >> 1) + t & 1023];
    }
    out[t] = a;
}
