// launch 2 64 n=1 cluster=2
// launch 4 32 n=2 cluster=4
// launch 4 64 n=3 cluster=2
// A bulk copy that rank 0 multicasts to all blocks, and one between two blocks' memories; arrivals at barriers of other blocks.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void expect(unsigned long long* b, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(AT(b)), "r"(bytes) : "memory"); }
#define CLUSTER_SYNC asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")
__device__ __forceinline__ unsigned far(unsigned a, unsigned rank) { unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
extern "C" __global__ void k9528(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned row[128], moved[64];
    __shared__ unsigned long long bar[3];
    unsigned rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    if (t < 2) init(bar + t, 1);
    if (t == 2) init(bar + 2, size);
    if (t < 64) { row[t] = 1; row[t + 64] = 1; moved[t & 63] = 2; }
    if (T < 64) { row[t + 32] = row[t + 96] = 1; moved[t + 32] = 2; }
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) { expect(bar, 512); expect(bar + 1, 128); }
    CLUSTER_SYNC;
    if (rank == 0 && t == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 512, [%2], %3;" :: "r"(AT(row)), "l"(src + 64 * n), "r"(AT(bar)), "h"((unsigned short)((1u << size) - 1)) : "memory");
    wait(bar, 0);
    unsigned a = row[(l * 2) & 127];
    acc += s[(a * 4) & 1023];
    if (a & 1) s[(l * 2) & 1023] = a;
    unsigned to = (rank + 1) % size;
    __syncthreads();
    if (t == 0) asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" :: "r"(far(AT(moved), to)), "r"(AT(row)), "r"(far(AT(bar + 1), to)) : "memory");
    wait(bar + 1, 0);
    acc += s[(moved[l] * 8) & 1023];
    for (unsigned k = 0; k < (moved[n] & 3); k++) acc += s[(l * 3 + k) & 1023];
    if (t == 0) for (unsigned r = 0; r < size; r++) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(far(AT(bar + 2), r)) : "memory");
    wait(bar + 2, 0);
    acc += s[(l * (moved[33] & 7)) & 1023];
    CLUSTER_SYNC;
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
