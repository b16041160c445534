// Shuffles, votes, matches, reductions, atomics of every kind and space, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

extern "C" __global__ void across(int* out, double* d, long long* l, unsigned m) {
    int lane = threadIdx.x & 31, v = out[threadIdx.x];
    v += __shfl_sync(m, v, 3) + __shfl_up_sync(m, v, 1) + __shfl_down_sync(m, v, 2, 16) + __shfl_xor_sync(m, v, 5);
    d[threadIdx.x] = __shfl_xor_sync(~0u, d[threadIdx.x], 7), l[threadIdx.x] = __shfl_sync(~0u, l[threadIdx.x], v & 31);
    int all = __all_sync(m, v > 3), any = __any_sync(m, v < 0), ballot = __ballot_sync(m, v & 1), active = __activemask(), pred;
    out[threadIdx.x] = all + any + ballot + active + __match_any_sync(m, v) + __match_all_sync(m, v, &pred) + pred + lane;
#if __CUDA_ARCH__ >= 800
    out[threadIdx.x + 64] = __reduce_add_sync(m, v) + __reduce_max_sync(m, v) + __reduce_xor_sync(m, (unsigned)v);
#endif
    __syncwarp(m);
}

extern "C" __global__ void atomics(int* g, float* f, double* d, unsigned long long* w, int n) {
    __shared__ int s[64];
    __shared__ unsigned long long big[16];
    __shared__ float real[16];
    int t = threadIdx.x;
    atomicAdd(&s[t & 7], n), atomicMax(&s[t % 5], t), atomicAnd(&s[8], n), atomicInc((unsigned*)&s[9], 77);
    s[t] = atomicCAS(&s[10], t, n) + atomicExch(&s[11 + n], t), atomicAdd(&big[n & 15], 3ull), atomicCAS(&big[t & 3], 1ull, 2ull);
    atomicAdd(&real[t & 15], 1.5f), atomicAdd(&g[t], 1), atomicAdd(f, real[n]), atomicAdd(d, 2.0), atomicMin(w, 5ull), atomicExch(w + 1, big[1]);
    atomicAdd_block(&g[1], 2), atomicAdd_system(&g[2], 3);
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(g[3]);
    ref.fetch_add(4, cuda::memory_order_acq_rel), ref.store(n, cuda::memory_order_release);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
    if (t == 0) flag.store(0);
    __syncthreads();
    flag.fetch_or(t, cuda::memory_order_relaxed);
    while (flag.load(cuda::memory_order_acquire) == 0) __nanosleep(20);
    __threadfence(), __threadfence_block();
    g[t] = s[t] + __syncthreads_count(s[t ^ 1] > 0) + __syncthreads_or(n);
}

extern "C" __global__ void groups(int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int v = cg::reduce(tile, out[threadIdx.x], cg::plus<int>());
    v += cg::inclusive_scan(tile, v) + tile.shfl_xor(v, 4) + tile.any(v > 3);
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(out, active.size());
    block.sync();
    auto parts = cg::labeled_partition(tile, v & 3);
    out[block.thread_rank()] = v + parts.size();
}
