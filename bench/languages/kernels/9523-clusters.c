// launch 4 64 n=3 cluster=2
// launch 2 32 n=1 cluster=2
#include "prelude.h"
static SHARED u32 s[512];
KERNEL void k9523(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, rank = __nvvm_read_ptx_sreg_cluster_ctarank();
    FILL(s, 512, i + rank);
    __nvvm_barrier_cluster_arrive();
    __nvvm_barrier_cluster_wait();
    u32 *other = (u32 *)__nvvm_mapa((void *)s, rank ^ 1), *own = (u32 *)__nvvm_mapa((void *)s, rank);
    u32 *mixed = (u32 *)__nvvm_mapa((void *)(s + t), t & 1);
    u32 a = other[t * 2] + own[t * 4] + mixed[n];
    a += s[(a * 2) & 511];
    if (t & 4) own[t * 3] = a;
    __nvvm_barrier_cluster_arrive();
    __nvvm_barrier_cluster_wait();
    out[t] = a + s[t * 3 & 511];
}
