// launch 2 32 n=64 cluster=2
// launch 4 64 n=128 cluster=4
// Bulk copies from global memory and from a block to its neighbour's shared memory, completed by transaction counts.
extern "C" __global__ void k9750(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(128) unsigned a[128], b[128];
    __shared__ unsigned long long bar[2];
    unsigned ab = (unsigned)__cvta_generic_to_shared(a), bb = (unsigned)__cvta_generic_to_shared(b), m = (unsigned)__cvta_generic_to_shared(bar), rank, size, there, mthere;
    asm volatile("mov.u32 %0, %%cluster_ctarank;\n mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
    if (t == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 1;\n mbarrier.init.shared.b64 [%0+8], 1;\n fence.mbarrier_init.release.cluster;" :: "r"(m) : "memory"); }
    asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    if (t == 0) {
        asm volatile("{ .reg .b64 x; mbarrier.arrive.expect_tx.shared.b64 x, [%0], %1;\n mbarrier.arrive.expect_tx.shared.b64 x, [%0+8], %1; }" :: "r"(m), "r"(n * 4) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(ab), "l"(src + rank * 128), "r"(n * 4), "r"(m) : "memory");
    }
    asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(m) : "memory");
    acc += s[a[t * 2 % n]] + s[(a[t % n] * 4) & 1023];
    if (t == 0) {
        unsigned to = rank + 1 == size ? 0 : rank + 1;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(bb), "r"(to));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mthere) : "r"(m + 8), "r"(to));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(there), "r"(ab), "r"(n * 4), "r"(mthere) : "memory");
    }
    asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(m + 8) : "memory");
    acc += s[b[(t * 3) % n]] + s[(b[t % n] * 8) & 1023] + b[t * 8 % n];
    asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
