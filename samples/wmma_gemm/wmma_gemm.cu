// The mma.h interface: fragments loaded from padded tiles in shared memory, the result staged there too.
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 64;
constexpr int kK = 32;
constexpr int kPitchA = kK + 8;
constexpr int kPitchB = kTile + 8;
constexpr int kPitchC = kTile + 4;

// 128 threads, 64 x 64 of C, a warp 32 x 32. n and k multiples of 64.
extern "C" __global__ void __launch_bounds__(128) wmma_gemm(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ alignas(128) __half as[kTile * kPitchA];
    __shared__ alignas(128) __half bs[kK * kPitchB];
    __shared__ alignas(128) float cs[kTile * kPitchC];
    int tid = threadIdx.x;
    int warp_row = tid / 64 * 32;
    int warp_col = tid / 32 % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
    for (int k0 = 0; k0 < k; k0 += kK) {
        for (int v = tid; v < kTile * kK / 8; v += 128) {
            const int4* from_a = reinterpret_cast<const int4*>(a + (blockIdx.y * kTile + v / 4) * k + k0 + v % 4 * 8);
            const int4* from_b = reinterpret_cast<const int4*>(b + (k0 + v / 8) * n + blockIdx.x * kTile + v % 8 * 8);
            *reinterpret_cast<int4*>(&as[v / 4 * kPitchA + v % 4 * 8]) = *from_a;                 // site: store-a
            *reinterpret_cast<int4*>(&bs[v / 8 * kPitchB + v % 8 * 8]) = *from_b;                 // site: store-b
        }
        __syncthreads();
        for (int kk = 0; kk < kK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], as + (warp_row + i * 16) * kPitchA + kk, kPitchA);   // site: fragment-a
            for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], bs + kk * kPitchB + warp_col + j * 16, kPitchB);     // site: fragment-b
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(cs + (warp_row + i * 16) * kPitchC + warp_col + j * 16, sum[i][j], kPitchC, wmma::mem_row_major);  // site: fragment-c
    __syncthreads();
    for (int v = tid; v < kTile * kTile / 4; v += 128)
        *reinterpret_cast<float4*>(c + (blockIdx.y * kTile + v / 16) * n + blockIdx.x * kTile + v % 16 * 4) =
            *reinterpret_cast<const float4*>(&cs[v / 16 * kPitchC + v % 16 * 4]);                 // site: read-c
}
