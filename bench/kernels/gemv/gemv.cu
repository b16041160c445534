// Products of a quantised matrix and a vector, and their relatives.

#include <cuda_fp16.h>

// 4-bit weights, 8 a word, a scale a group of 64; x waits in shared memory.
extern "C" __global__ void gemv_int4(const uint4* weights, const __half* scales, const __half2* x, float* y, int k) {
    extern __shared__ __half2 vector[];
    for (int i = threadIdx.x; i < k / 2; i += blockDim.x) vector[i] = x[i];
    __syncthreads();
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int v = lane; v < k / 32; v += 32) {
        uint4 packed = weights[row * (k / 32) + v];
        float scale = __half2float(scales[row * (k / 64) + v / 2]);
        unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
        #pragma unroll
        for (int w = 0; w < 4; w++)
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                float2 f = __half22float2(vector[v * 16 + w * 4 + i]);
                sum += scale * (f.x * (int(words[w] >> (8 * i) & 15) - 8) + f.y * (int(words[w] >> (8 * i + 4) & 15) - 8));
            }
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// The same with x permuted so that a lane's 16 words are 32 apart: no conflicts.
extern "C" __global__ void gemv_int4_permuted(const uint4* weights, const __half2* x, float* y, int k) {
    extern __shared__ __half2 vector[];
    for (int i = threadIdx.x; i < k / 2; i += blockDim.x) vector[(i / 16) % 32 + (i % 16) * 32 + i / 512 * 512] = x[i];
    __syncthreads();
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int v = lane; v < k / 32; v += 32) {
        uint4 packed = weights[row * (k / 32) + v];
        unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
        for (int i = 0; i < 16; i++) {
            float2 f = __half22float2(vector[v / 32 * 512 + i * 32 + lane]);
            sum += f.x * (words[i / 4] >> (8 * (i % 4)) & 15) + f.y * (words[i / 4] >> (8 * (i % 4) + 4) & 15);
        }
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// A code book of 256 values in shared memory: what is read depends on the weights.
extern "C" __global__ void gemv_codebook(const unsigned char* codes, const float* book, const float* x, float* y, int k) {
    __shared__ float values[256];
    __shared__ float sums[8];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) values[i] = book[i];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < k; i += blockDim.x) sum += values[codes[blockIdx.x * k + i]] * x[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 8) {
        sum = sums[threadIdx.x];
        for (int d = 4; d; d >>= 1) sum += __shfl_down_sync(0xff, sum, d);
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
    }
}

// CSR: a warp a row, partial sums of a row in shared memory.
extern "C" __global__ void csr_vector(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
    __shared__ volatile float partial[128 + 16];
    __shared__ volatile int ends[4][2];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int row = blockIdx.x * 4 + warp; row < rows; row += gridDim.x * 4) {
        if (lane < 2) ends[warp][lane] = offsets[row + lane];
        __syncwarp();
        int start = ends[warp][0], end = ends[warp][1];
        float sum = 0;
        for (int i = start + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
        partial[threadIdx.x] = sum;
        __syncwarp();
        if (lane < 16) { sum += partial[threadIdx.x + 16]; partial[threadIdx.x] = sum; }
        __syncwarp();
        if (lane < 8) { sum += partial[threadIdx.x + 8]; partial[threadIdx.x] = sum; }
        __syncwarp();
        if (lane < 4) { sum += partial[threadIdx.x + 4]; partial[threadIdx.x] = sum; }
        __syncwarp();
        if (lane < 2) { sum += partial[threadIdx.x + 2]; partial[threadIdx.x] = sum; }
        __syncwarp();
        if (lane < 1) y[row] = sum + partial[threadIdx.x + 1];
        __syncwarp();
    }
}

// Sums of segments whose ends are flagged.
extern "C" __global__ void segmented_reduce(const float* in, const int* flags, float* out) {
    __shared__ float values[256];
    __shared__ int heads[256];
    int t = threadIdx.x, at = blockIdx.x * 256 + t;
    values[t] = in[at];
    heads[t] = flags[at];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float left = 0;
        int head = 0;
        if (t >= d) { left = values[t - d]; head = heads[t - d]; }
        __syncthreads();
        if (t >= d && !heads[t]) { values[t] += left; heads[t] |= head; }
        __syncthreads();
    }
    out[at] = values[t];
}

// One shared counter, an atomic a warp.
extern "C" __global__ void warp_aggregated(const int* in, int* out, int* count, int threshold) {
    __shared__ int found;
    __shared__ int base;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    bool keep = value > threshold;
    unsigned ballot = __ballot_sync(~0u, keep);
    int lane = threadIdx.x % 32, leader = __ffs(ballot) - 1, offset = 0;
    if (lane == leader) offset = atomicAdd(&found, __popc(ballot));
    offset = __shfl_sync(~0u, offset, leader < 0 ? 0 : leader) + __popc(ballot & ((1u << lane) - 1));
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, found);
    __syncthreads();
    if (keep) out[base + offset] = value;
}

// What is kept goes through shared memory, then out in order.
extern "C" __global__ void compact_staged(const int* in, int* out, int period) {
    __shared__ int staged[256];
    __shared__ int warps[9];
    int t = threadIdx.x, lane = t % 32, value = in[blockIdx.x * 256 + t];
    bool keep = t % period != 0;
    unsigned ballot = __ballot_sync(~0u, keep);
    if (lane == 0) warps[t / 32 + 1] = __popc(ballot);
    if (t == 0) warps[0] = 0;
    __syncthreads();
    if (t == 0) for (int w = 1; w < 9; w++) warps[w] += warps[w - 1];
    __syncthreads();
    if (keep) staged[warps[t / 32] + __popc(ballot & ((1u << lane) - 1))] = value;
    __syncthreads();
    if (t < warps[8]) out[blockIdx.x * 256 + t] = staged[t];
}
