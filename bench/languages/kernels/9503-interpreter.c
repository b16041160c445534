// launch 1 64 n=24
// launch 1 32 n=12
#include "prelude.h"
static SHARED u32 memory[512];
static const u8 code[16] = {0, 3, 1, 5, 2, 4, 6, 1, 0, 2, 5, 3, 6, 4, 1, 0};
KERNEL void k9503(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, pc = t & 3, x = t, y = 1;
    FILL(memory, 512, i * 7 & 511);
    for (u32 steps = 0; steps < n; steps++) {
        switch (code[pc++ & 15]) {
        case 0: x = memory[x & 511]; break;
        case 1: memory[(x + t) & 511] = y; break;
        case 2: y += x; break;
        case 3: if (x & 1) pc += 2; break;
        case 4: x = x * 5 + y; break;
        case 5: { u32 swap = x; x = y; y = swap; } break;
        case 6: if (y > 300) { out[t] = memory[y & 511]; return; } x++; break;
        }
    }
    out[t] = x ^ memory[(t * 4) & 511];
}
