// launch 2 64 n=3
// launch 1 40 n=6
#include "prelude.h"
static SHARED u32 s[1024];
typedef struct { u32 at, step; u64 sum; } Result;
NOINLINE u32 find(SHARED u32 *table, u32 key, u32 most) {
    for (u32 i = 0; i < most; i++) {
        u32 found = table[(key + i * 17) & 1023];
        if (found == key) return i;
        if (found > 900) return table[i] + 1;
        if ((found & 7) == 3) return found;
    }
    return key;
}
NOINLINE Result pack(u32 t, u32 n) {
    Result r = {t * 2, n, 0};
    if (t & 1) { r.sum = s[t]; return r; }
    r.at = s[(t * n) & 1023];
    if (t & 2) return r;
    r.step = find(s, t, n);
    return r;
}
KERNEL void k9504(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID;
    FILL(s, 1024, i * 37 & 1023);
    u32 a = t < 20 ? find(s, src[t], n) : find(s, t * 3, n + 1);
    Result r = pack(t, n);
    a += s[(r.at + r.step * 32) & 1023];
    if (t % 5 == 0) a += find(s, (u32)r.sum, 2);
    out[t] = s[a & 1023];
}
