// launch 4 64 n=1 cluster=2
// launch 4 40 n=2 cluster=4
// launch 6 32 n=1 cluster=3
// mapa; loads, stores and atomics on other blocks' memory, and on a block's own memory through its cluster address.
extern "C" __global__ void k9017(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0, rank, ranks, here, there, own, r, x;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(ranks));
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    here = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) % ranks));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(own) : "r"(here), "r"(rank));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(there + (t * 8 & 4095)) : "memory"); acc += r;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(own + (t * 12 & 4092)) : "memory"); acc += r;
    asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(r) : "r"(here + (t * 16 & 4095)) : "memory"); acc += r;
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"((t & 1 ? own : there) + (t * 8 & 4095)), "r"(t) : "memory");
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(r) : "r"(there + ((t & 7) * 4)) : "memory"); acc += r;
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(x) : "r"(there));
    acc += s[(t * (x + 1)) & 1023];
    unsigned long long g = (unsigned long long)(s + (t * 2 & 1023)), gm;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(gm) : "l"(g), "r"(t & 1 ? rank : (rank + 1) % ranks));
    acc += *(volatile unsigned*)gm;
    asm volatile("{ .reg .pred p, q; isspacep.shared::cta p, %1; isspacep.shared::cluster q, %1; selp.u32 %0, 2, 4, p; @q add.u32 %0, %0, 1; }" : "=r"(x) : "l"(gm));
    s[(t * x) & 1023] = acc;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
