// A warpgroup's asynchronous matrix product (sm_90a): both operands read from shared memory through descriptors.
// C (m x 64 per block, float) = A (m x k) * B^T (n x k), halves, K-major in memory, 128-byte swizzle.
#include <cuda_fp16.h>

constexpr int kTile = 64;   // rows of A, rows of B, columns of k: 64 halves = 128 bytes a row
constexpr int kThreads = 128;

// Rows of 128 bytes; 16-byte chunk c of row r lies at c ^ r mod 8: the hardware's 128-byte swizzle.
__device__ int place(int row, int chunk) {
    return row * 128 + ((chunk ^ (row % 8)) * 16);
}

// Start address, leading offset 1 (unused for this swizzle), 1024 bytes between groups of 8 rows, 128-byte swizzle.
__device__ unsigned long long descriptor(unsigned address) {
    return (static_cast<unsigned long long>(address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

extern "C" __global__ void __launch_bounds__(kThreads) wgmma_gemm(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ alignas(1024) unsigned char as[kTile * 128];
    __shared__ alignas(1024) unsigned char bs[kTile * 128];
    int tid = threadIdx.x;
    unsigned a_address = static_cast<unsigned>(__cvta_generic_to_shared(as));
    unsigned b_address = static_cast<unsigned>(__cvta_generic_to_shared(bs));
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile * k;
    float d[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) d[i] = 0;
    for (int k0 = 0; k0 < k; k0 += kTile) {
#pragma unroll
        for (int i = 0; i < kTile * 8 / kThreads; ++i) {
            int row = (tid + i * kThreads) / 8;
            int chunk = (tid + i * kThreads) % 8;
            *reinterpret_cast<int4*>(as + place(row, chunk)) = *reinterpret_cast<const int4*>(a + row * k + k0 + chunk * 8);  // site: store-a
            *reinterpret_cast<int4*>(bs + place(row, chunk)) = *reinterpret_cast<const int4*>(b + row * k + k0 + chunk * 8);  // site: store-b
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int kk = 0; kk < kTile / 16; ++kk) {
            unsigned long long da = descriptor(a_address + kk * 32);
            unsigned long long db = descriptor(b_address + kk * 32);
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "                                   // site: wgmma
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                "%32, %33, 1, 1, 1, 0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                : "l"(da), "l"(db));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int row = blockIdx.y * kTile + tid / 32 * 16 + tid % 32 / 4;
    int col = blockIdx.x * kTile + tid % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        *reinterpret_cast<float2*>(c + row * n + col + j * 8) = make_float2(d[j * 4], d[j * 4 + 1]);
        *reinterpret_cast<float2*>(c + (row + 8) * n + col + j * 8) = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}
