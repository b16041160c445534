// launch 1 64 n=3
// launch 2 96 n=6
#include "prelude.h"
static SHARED u32 s[1024];
NOINLINE __attribute__((noreturn)) void end(u32 *out, u32 t) { out[t] = s[t * 2 & 1023]; __nvvm_exit(); __builtin_unreachable(); }
NOINLINE u32 perhaps(u32 *out, u32 t) { if (t % 7 == 1) end(out, t); return s[t * 4 & 1023]; }
KERNEL void k9514(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i);
    if (t == 5) __nvvm_exit();
    a += s[t];
    if (n > 1000) __builtin_trap();
    for (u32 i = 0; i < n; i++) {
        a += s[(t * 32 + i) & 1023];
        if (t + i == 40) { out[t] = a; return; }
        if (i == 2) a += perhaps(out, t);
    }
    __builtin_assume(t < 1024);
    if (t & 8) end(out, t ^ 1);
    out[t] = a + s[t * 3 & 1023];
}
