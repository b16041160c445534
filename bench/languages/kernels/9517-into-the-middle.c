// launch 1 64 n=13
// launch 1 48 n=6
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9517(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, count = n + (t & 7), i = 0;
    FILL(s, 1024, i * 5 & 511);
    switch (count & 3) {
        do {
    case 0: a += s[(t * 2 + i++) & 1023];
    case 3: a ^= s[(t * 32 + i++) & 1023];
    case 2: a += s[(t + i++ * 32) & 1023];
    case 1: s[(t * 4 + i++) & 1023] = a;
        } while (i < count);
    }
    switch ((u64)src[t] * 0x100000001ull) {
    case 0x300000003ull: a += s[t]; break;
    case 0x700000007ull: a += s[t * 2]; break;
    case 0x1500000015ull: a += s[t * 3]; break;
    default: a += s[t * 4];
    }
    out[t] = a;
}
