// Threads that pass work to each other: cuda::barrier, cuda::pipeline, clusters, warp votes and matches,
// counted barriers, producers and consumers.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// A ring of four stages under mbarriers: warp 0 fills, the others add.
extern "C" __global__ void ring(const float* in, float* out, int blocks) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float stages[4][96];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier full[4], empty[4];
    if (threadIdx.x == 0) for (int s = 0; s < 4; s++) { init(&full[s], 128); init(&empty[s], 128); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int b = 0; b < blocks; b++) {
            int s = b % 4;
            empty[s].arrive_and_wait();
            for (int i = threadIdx.x; i < 96; i += 32) stages[s][i] = in[b * 96 + i];
            (void)full[s].arrive();
        }
    } else {
        for (int s = 0; s < 4; s++) (void)empty[s].arrive();
        float sum = 0;
        for (int b = 0; b < blocks; b++) {
            int s = b % 4;
            full[s].arrive_and_wait();
            sum += stages[s][threadIdx.x - 32] * stages[s][(threadIdx.x * 3) % 96];
            (void)empty[s].arrive();
        }
        out[blockIdx.x * 96 + threadIdx.x - 32] = sum;
    }
}

extern "C" __global__ void pipelined(const float4* in, float4* out, int batches) {
    __shared__ float4 buffer[2][128];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&buffer[0][threadIdx.x], &in[threadIdx.x], sizeof(float4), pipe);
    pipe.producer_commit();
    for (int b = 0; b < batches; b++) {
        if (b + 1 < batches) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[(b + 1) & 1][threadIdx.x], &in[(b + 1) * 128 + threadIdx.x], sizeof(float4), pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        float4 v = buffer[b & 1][127 - threadIdx.x];
        out[b * 128 + threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
        __syncthreads();
        pipe.consumer_release();
    }
}

extern "C" __global__ void group_copy(const int* in, int* out, int count) {
    extern __shared__ int staged[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, staged, in + blockIdx.x * count, sizeof(int) * count);
    cg::wait(block);
    for (int i = block.thread_rank(); i < count; i += block.size()) out[blockIdx.x * count + i] = staged[count - 1 - i];
}

// Each block of a cluster of four leaves a sum; all read all of them.
extern "C" __global__ void __cluster_dims__(4) cluster_reduce(const float* in, float* out) {
    __shared__ float sums[8];
    __shared__ float of_block;
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float sum = cg::reduce(warp, in[blockIdx.x * blockDim.x + threadIdx.x], cg::plus<float>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (threadIdx.x < 8) {
        sum = sums[threadIdx.x];
        for (int d = 4; d; d >>= 1) sum += __shfl_down_sync(0xff, sum, d);
        if (threadIdx.x == 0) of_block = sum;
    }
    cluster.sync();
    if (threadIdx.x < 4) {
        float part = *cluster.map_shared_rank(&of_block, threadIdx.x);
        for (int d = 2; d; d >>= 1) part += __shfl_down_sync(0xf, part, d);
        if (threadIdx.x == 0) out[blockIdx.x] = part;
    }
    cluster.sync();
}

extern "C" __global__ void matches(const int* in, int* out, int period) {
    __shared__ int counts[64];
    __shared__ int shares[8][32];
    int t = threadIdx.x, lane = t % 32;
    if (t < 64) counts[t] = 0;
    __syncthreads();
    int key = t / 3 % period;
    unsigned peers = __match_any_sync(~0u, key);
    if (lane == __ffs(peers) - 1) counts[key] += __popc(peers);
    shares[t / 32][__popc(peers & ((1u << lane) - 1)) * 8 % 32] = __reduce_add_sync(~0u, t);
    __syncthreads();
    out[t] = counts[t % period] + shares[t / 32][lane];
}

// Tiles of 8 threads scan 64 numbers each through shared memory, labelled partitions included.
extern "C" __global__ void small_tiles(const int* in, int* out) {
    __shared__ int lines[32][9];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int rank = tile.thread_rank(), group = tile.meta_group_rank();
    lines[group][rank] = in[threadIdx.x];
    tile.sync();
    for (int d = 1; d < 8; d <<= 1) {
        int left = rank >= d ? lines[group][rank - d] : 0;
        tile.sync();
        lines[group][rank] += left;
        tile.sync();
    }
    auto parity = cg::binary_partition(tile, rank & 1);
    int total = cg::reduce(parity, lines[group][rank], cg::plus<int>());
    lines[group][parity.thread_rank() + (rank & 1) * 4] = total;
    tile.sync();
    out[threadIdx.x] = lines[group][7 - rank];
}

// Two halves of a block meet at named barriers, in turns.
extern "C" __global__ void turns(const float* in, float* out, int rounds) {
    __shared__ float mail[2][64];
    int side = threadIdx.x / 64, at = threadIdx.x % 64;
    float value = in[threadIdx.x];
    for (int round = 0; round < rounds; round++) {
        if (side == round % 2) {
            mail[side][at] = value;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            value += mail[1 - side][at ^ round];
        }
        __syncthreads();
    }
    out[threadIdx.x] = value;
}
