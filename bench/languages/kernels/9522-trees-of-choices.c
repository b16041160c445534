// launch 1 64 n=3
// launch 1 56 n=40
#include "prelude.h"
static SHARED u32 s[1024];
static inline u32 pick(u32 t, u32 n) {
    if (t < 8) return t < 4 ? (t & 1 ? 3 : n) : t * 2;
    if (t < 24 && (t & 1 || n > 30)) return t ^ n;
    return t > 40 || t == 30 ? t * 32 : (n & 1 ? t : t + n);
}
KERNEL void k9522(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i * 3 & 1023);
    u32 p = pick(t, n), q = pick(p & 63, t);
    a = (p > q ? s[p & 1023] : s[q & 1023]) + s[(p < 20 && q > 5) ? (p + q) & 1023 : t];
    u32 low = 0, high = 1024;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (s[middle] < src[t]) low = middle + 1; else high = middle;
    }
    s[(low * 32 + t) & 1023] = a;
    SHARED u32 *to = t & 1 ? (t & 2 ? s + (p & 1023) : s + 64) : (n > 20 ? s + (q & 1023) : s);
    *to = a;
    __syncthreads();
    out[t] = s[low & 1023] + s[(a ^ t) & 1023];
}
