// launch 2 32 n=3 cluster=2
// launch 4 40 n=9 cluster=4
// launch 2 64 n=1 cluster=2
// st.async and red.async into a neighbour of the cluster, counted by an mbarrier's bytes; the words that arrive are addresses; vectors of two and four.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned far(unsigned a, unsigned rank) { unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
extern "C" __global__ void k9356(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) unsigned d[512]; __shared__ __align__(8) unsigned long long bar[2];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0, rank, size, done = 0;
    asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 512; k += T) d[k] = k & 7;
    if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(at(bar + t)) : "memory");
    __syncthreads();
    if (t == 0) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(bar)), "r"(T * 12) : "memory"); asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(bar + 1)), "r"(T * 4) : "memory"); }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    unsigned to = (rank + 1) % size, b = far(at(bar), to), b1 = far(at(bar + 1), to);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(far(at(d + t), to)), "r"(t * 3 + rank), "r"(b) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" :: "r"(far(at(d + 128 + t * 2), to)), "r"(t ^ 5), "r"(t * n), "r"(b) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" :: "r"(far(at(d + 256 + (t & 31)), to)), "r"(t + 1), "r"(b1) : "memory");
    while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar)) : "memory");
    acc += s[(d[t] * 4) & 1023];
    uint2 v = ((uint2*)d)[64 + t]; acc += s[(v.x * 32 + v.y) & 1023]; if (v.y & 2) s[(v.x * 8) & 1023] = acc;
    done = 0; while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar + 1)) : "memory");
    acc += s[(d[256 + (t & 31)] * 2) & 1023];
    for (unsigned k = 0; k < (d[256 + (t & 31)] & 3); k++) acc += s[(t * 5 + k * 16) & 1023];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    unsigned there; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(there) : "r"(far(at(d + ((t * 3) & 255)), to)) : "memory"); acc += s[(there ^ t) & 1023];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    out[(blockIdx.x * T + t) & 2047] = acc;
}
