// launch 1 64 n=3
// launch 1 32 n=7
#include "prelude.h"
static SHARED u32 s[1024];
NOINLINE u32 sum_of(u32 count, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, count);
    u32 sum = 0;
    for (u32 i = 0; i < count; i++) sum += s[__builtin_va_arg(list, u32) & 1023];
    __builtin_va_end(list);
    return sum;
}
KERNEL void k9515(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i * 2);
    u32 *here = __builtin_alloca(4 * (n + 4));
    for (u32 i = 0; i < n + 4; i++) here[i] = (i * 33 + t) & 1023;
    for (u32 i = 0; i < n; i++) a += s[here[(i + t) % (n + 4)]];
    a += sum_of(2, t, t * 2) + sum_of(3, t * 32, a, here[0]);
    out[t] = s[a & 1023];
}
