// launch 1 128 n=3
// launch 2 64 n=6
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9516(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0;
    FILL(s, 1024, i ^ 3);
    a += s[__nvvm_bar0_popc(t % 3 == 0) * 3 + (t & 7) * 32 & 1023];
    a += s[__nvvm_bar0_or(t == 17) ? t * 2 : t * 4];
    a += s[(__nvvm_bar0_and(t < 1000) + 1) * t & 1023];
    for (u32 i = 0; i < n; i++) {
        if (t & 16) {
            a += s[(t * 32 + i) & 1023];
            __nvvm_bar_warp_sync(0xffff0000);
            a += s[(a + t) & 1023];
        } else {
            if (t & 1) a += s[t * i & 1023];
            __nvvm_bar_warp_sync(0xffff);
            s[(t * 2) & 1023] = a;
        }
        __syncthreads();
    }
    __nvvm_bar_warp_sync(ALL);
    if ((t >> 5 & 1) == 0) __nvvm_barrier_sync_cnt(1, NTID / 2);
    out[t] = a + s[a & 1023];
}
