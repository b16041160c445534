// Double buffering with the pipeline interface: the next tile is copied while this one is used.
#include <cuda_pipeline_primitives.h>

constexpr int kTile = 256;

// 16 bytes a copy (cp.async.cg): threads 0-63 copy a tile, all 256 use it, each with its neighbours.
extern "C" __global__ void __launch_bounds__(256) smooth16(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float buffer[2][kTile];
    int tid = threadIdx.x;
    in += blockIdx.x * tiles * kTile;
    out += blockIdx.x * tiles * kTile;
    auto fetch = [&](int t) {
        if (tid < kTile / 4) __pipeline_memcpy_async(&buffer[t % 2][tid * 4], in + t * kTile + tid * 4, 16);   // site: fetch16
        __pipeline_commit();
    };
    fetch(0);
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) {
            fetch(t + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        const float* b = buffer[t % 2];
        out[t * kTile + tid] = b[tid] + b[(tid + 1) % kTile] + b[(tid + kTile - 1) % kTile];                    // site: use16
        __syncthreads();
    }
}

// 4 bytes a copy (cp.async.ca), and a column of the source a thread: the tile is transposed on the way in.
extern "C" __global__ void __launch_bounds__(256) transpose4(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float buffer[2][16][17];
    int tid = threadIdx.x;
    int x = tid % 16;
    int y = tid / 16;
    in += blockIdx.x * tiles * kTile;
    out += blockIdx.x * tiles * kTile;
    auto fetch = [&](int t) {
        __pipeline_memcpy_async(&buffer[t % 2][x][y], in + t * kTile + tid, 4);                                 // site: fetch4
        __pipeline_commit();
    };
    fetch(0);
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) {
            fetch(t + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        out[t * kTile + tid] = buffer[t % 2][y][x];                                                             // site: use4
        __syncthreads();
    }
}

// 8 bytes a copy, the last tile cut off: lanes beyond the end fill zeros.
extern "C" __global__ void __launch_bounds__(128) sums8(const float* in, float* out, int n) {
    __shared__ alignas(128) float buffer[2][kTile];
    int tid = threadIdx.x;
    int tiles = (n + kTile - 1) / kTile;
    auto fetch = [&](int t) {
        int i = t * kTile + tid * 2;
        __pipeline_memcpy_async(&buffer[t % 2][tid * 2], in + (i < n ? i : 0), 8, i < n ? 0 : 8);               // site: fetch8
        __pipeline_commit();
    };
    float sum = 0;
    fetch(blockIdx.x);
    int which = blockIdx.x;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        if (t + gridDim.x < tiles) {
            fetch(t + gridDim.x);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        sum += buffer[t % 2][tid] + buffer[t % 2][tid + 128];                                                   // site: use8
        __syncthreads();
    }
    out[which * 128 + tid] = sum;
}
