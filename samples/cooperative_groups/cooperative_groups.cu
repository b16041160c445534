// Cooperative groups: tiles of a block, a reduction in a tile, and groups of the threads that take a branch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Segments of 16 numbers, one a tile of 16 threads.
extern "C" __global__ void tile_sums(const int* in, int* out) {
    __shared__ int sums[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int sum = cg::reduce(tile, in[blockIdx.x * block.size() + block.thread_rank()], cg::plus<int>());
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;                // site: sum-store
    cg::sync(block);
    for (int i = block.thread_rank(); i < tile.meta_group_size(); i += block.size())
        out[blockIdx.x * tile.meta_group_size() + i] = sums[i];                     // site: sum-load
}

// Positive numbers are collected: the threads of a warp that found one take places together.
extern "C" __global__ void collect_positive(const int* in, int* out, int* count) {
    __shared__ int found;
    __shared__ int positive[256];
    if (threadIdx.x == 0) found = 0;                                                // site: found-clear
    __syncthreads();
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value > 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        int first = 0;
        if (group.thread_rank() == 0) first = atomicAdd(&found, group.size());      // site: found-add
        first = group.shfl(first, 0);
        positive[first + group.thread_rank()] = value;                              // site: positive-store
    }
    __syncthreads();
    if (threadIdx.x == 0) count[blockIdx.x] = found;                                // site: found-load
    if (threadIdx.x < found) out[blockIdx.x * blockDim.x + threadIdx.x] = positive[threadIdx.x];   // site: positive-load
}
