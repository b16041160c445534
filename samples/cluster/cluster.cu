// Thread block clusters: blocks read and add to each other's shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Every block reduces its part; the first block of the cluster gathers the others' results.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const float* in, float* out) {
    __shared__ float s[128];
    __shared__ float result;
    cg::cluster_group cluster = cg::this_cluster();
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 128 + tid];                                  // site: fill
    for (int step = 64; step > 0; step /= 2) {
        __syncthreads();
        if (tid < step) s[tid] += s[tid + step];                          // site: step
    }
    if (tid == 0) result = s[0];                                          // site: result-store
    cluster.sync();
    if (cluster.block_rank() == 0 && tid < 4) {
        float part = *cluster.map_shared_rank(&result, tid);              // site: remote-load
        for (int offset = 2; offset > 0; offset /= 2) part += __shfl_down_sync(0xfu, part, offset);
        if (tid == 0) out[blockIdx.x / 4] = part;
    }
    cluster.sync();
}

// 1024 bins spread over the 4 blocks of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const unsigned short* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    cg::cluster_group cluster = cg::this_cluster();
    int tid = threadIdx.x;
    bins[tid] = 0;                                                        // site: clear
    cluster.sync();
    for (int i = blockIdx.x * 256 + tid; i < n; i += gridDim.x * 256) {
        unsigned bin = in[i] % 1024;
        atomicAdd(cluster.map_shared_rank(bins, bin / 256) + bin % 256, 1u);   // site: remote-add
    }
    cluster.sync();
    atomicAdd(&out[cluster.block_rank() * 256 + tid], bins[tid]);         // site: collect
}
