// Conflicts that people have asked about in public, each as a small kernel of its own. What `ptxaudit fix` says of them is in
// docs/fixes.md; tests/review/test_fix_public.py holds it to that.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ unsigned matrices_trans(unsigned from) {
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from));
    return a ^ b ^ c ^ d;
}

__device__ __forceinline__ unsigned matrices(unsigned from) {
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from));
    return a ^ b ^ c ^ d;
}

// NVIDIA/cutlass#3172: "Swizzle could not eliminate bank conflicts of ldmatrix": a tile of 128 x 32 halves, M contiguous,
// read by ldmatrix.x4.trans. Here without any swizzle.
extern "C" __global__ void __launch_bounds__(128) ldmatrix_m_major(const uint4* in, unsigned* out) {
    __shared__ alignas(16) __half tile[32][128];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    for (int v = tid; v < 512; v += 128) *reinterpret_cast<uint4*>(&tile[v / 16][v % 16 * 8]) = in[blockIdx.x * 512 + v];
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k += 16)
#pragma unroll
        for (int m = 0; m < 32; m += 16) sum += matrices_trans(place(&tile[k + lane % 16][warp * 32 + m + lane / 16 * 8]));
    out[blockIdx.x * 128 + tid] = sum;
}

// ggml-org/llama.cpp#28536: a tile of K that is swizzled, and has more conflicts for some shapes than without. With rows of
// 32 halves two rows share a line of all banks: the low bit of the row is not the one to take.
extern "C" __global__ void __launch_bounds__(128) swizzled_by_wrong_bits(const uint4* in, unsigned* out) {
    __shared__ alignas(16) __half tile[64][32];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    for (int v = tid; v < 256; v += 128) {
        int row = v / 4, chunk = v % 4;
        *reinterpret_cast<uint4*>(&tile[row][(chunk ^ (row & 3)) * 8]) = in[blockIdx.x * 256 + v];
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        int row = warp * 16 + lane % 16, chunk = 2 * k + lane / 16;
        sum += matrices(place(&tile[row][(chunk ^ (row & 3)) * 8]));
    }
    out[blockIdx.x * 128 + tid] = sum;
}

// deepspeedai/DeepSpeed#8055: a tile declared with rows of 17, and indexed with rows of 16.
constexpr int kRows = 16, kColumns = 16;
template <typename T>
__global__ void __launch_bounds__(256) padded_in_vain(const T* in, T* out, int width) {
    __shared__ T block[kRows * (kColumns + 1)];
    int r = threadIdx.x / kColumns, c = threadIdx.x % kColumns;
    int x = blockIdx.x * kColumns, y = blockIdx.y * kRows;
    block[r * kColumns + c] = in[(y + r) * width + x + c];
    __syncthreads();
    out[(x + r) * width + y + c] = block[c * kColumns + r];
}
template __global__ void padded_in_vain<float>(const float*, float*, int);

// NVIDIA/cudnn-frontend#941: each lane hands 64 floats to a lane of another warp, 128 bits at a time, rows of 256 bytes.
extern "C" __global__ void __launch_bounds__(128) handed_over(const float4* in, float* out) {
    __shared__ float4 rows[64][16];
    int tid = threadIdx.x, lane = tid % 64;
    if (tid < 64) {
#pragma unroll
        for (int k = 0; k < 16; ++k) rows[lane][k] = in[(blockIdx.x * 16 + k) * 64 + lane];
    }
    __syncthreads();
    if (tid >= 64) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 v = rows[lane][k];
            sum += v.x + v.y * v.z - v.w;
        }
        out[blockIdx.x * 64 + lane] = sum;
    }
}
