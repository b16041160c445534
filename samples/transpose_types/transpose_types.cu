// Transposes of other element types and other block shapes.
#include <cuda_fp16.h>

template <typename T, int Pitch>
__device__ void transpose32(const T* in, T* out, int n) {
    __shared__ alignas(16) T tile[32][Pitch];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];       // site: store
    __syncthreads();
    out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty];      // site: load
}

extern "C" __global__ void half_pitch_33(const __half* in, __half* out, int n) { transpose32<__half, 33>(in, out, n); }
extern "C" __global__ void half_pitch_34(const __half* in, __half* out, int n) { transpose32<__half, 34>(in, out, n); }
extern "C" __global__ void byte_pitch_36(const unsigned char* in, unsigned char* out, int n) { transpose32<unsigned char, 36>(in, out, n); }

// A block of 32 x 8 threads moves a 32 x 32 tile, four rows a thread: the classic.
extern "C" __global__ void rows_of_eight(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * 32 + tx;
    int y = blockIdx.y * 32 + ty;
    for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * n + x];     // site: rows-store
    __syncthreads();
    x = blockIdx.y * 32 + tx;
    y = blockIdx.x * 32 + ty;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[tx][ty + j];    // site: rows-load
}

// No padding: element (row, col) lies at column col ^ row.
extern "C" __global__ void xor_swizzle(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    tile[ty][tx ^ ty] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];  // site: xor-store
    __syncthreads();
    out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty ^ tx]; // site: xor-load
}

// 16-byte elements in tiles of 8 x 8, 64 threads; the pitch of 9 elements is odd in 16-byte units.
extern "C" __global__ void float4_pitch_9(const float4* in, float4* out, int n) {
    __shared__ float4 tile[8][9];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 8 + ty) * n + blockIdx.x * 8 + tx];         // site: float4-store
    __syncthreads();
    out[(blockIdx.x * 8 + ty) * n + blockIdx.y * 8 + tx] = tile[tx][ty];        // site: float4-load
}

// Any size: the tiles at the right and lower edges are cut off.
extern "C" __global__ void any_size(const float* in, float* out, int width, int height) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];   // site: edge-store
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y]; // site: edge-load
}
