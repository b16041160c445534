// launch 1 64 n=4
// launch 1 32 n=9
#include "prelude.h"
static SHARED u32 s[1024];
typedef u32 (*Step)(u32, u32);
NOINLINE u32 by_rows(u32 x, u32 t) { return s[(x * 32) & 1023] + t; }
NOINLINE u32 by_columns(u32 x, u32 t) { return s[(x + t) & 1023]; }
NOINLINE u32 swizzled(u32 x, u32 t) { if (x & 8) return x; return s[(t ^ (x << 2)) & 1023]; }
NOINLINE u32 again(u32 depth, u32 t) { return depth ? again(depth - 1, t) + s[(t * depth) & 1023] : t; }
static const Step steps[4] = {by_rows, by_columns, swizzled, again};
KERNEL void k9507(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = t;
    FILL(s, 1024, i * 9 & 255);
    for (u32 j = 0; j < n; j++) {
        u32 which = (t / 4 + j) % 3;
        a = steps[which](a & 63, t) & 1023;
    }
    a += steps[3](t & 3, a);
    out[t] = s[a & 1023];
}
