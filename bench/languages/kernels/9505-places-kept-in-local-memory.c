// launch 1 64 n=3
// launch 1 96 n=5
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9505(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, kept[8], a = 0;
    SHARED u32 *at[4];
    FILL(s, 1024, i);
    for (u32 j = 0; j < 8; j++) kept[(j + t) & 7] = j * 32 + (t & 15);
    for (u32 j = 0; j < 4; j++) at[j ^ (t & 3)] = s + j * 33 + t;
    for (u32 j = 0; j < n; j++) {
        a += s[kept[(j + n) & 7]];
        a += *at[(j * t) & 3];
        at[j & 3] += kept[t & 7];
    }
    out[t] = a + at[t & 3][4];
}
