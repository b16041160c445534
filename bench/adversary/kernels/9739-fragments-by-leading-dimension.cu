// launch 1 32 n=24
// launch 1 64 n=40
// wmma of all three layouts with leading dimensions that a parameter decides; accumulators stored in both orders.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void k9739(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(32) __half A[16 * 64], B[16 * 64];
    __shared__ __align__(32) float C[16 * 68];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) { A[i] = __float2half((float)(i % 3)); B[i] = __float2half((float)(i % 5 == 0)); }
    __syncthreads();
    if (w == 0) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.f);
        wmma::load_matrix_sync(a, A, n);
        wmma::load_matrix_sync(b, B, n + 8);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(C, c, 68, wmma::mem_row_major);
        __syncwarp();
        acc += (unsigned)C[l * 17];
        wmma::store_matrix_sync(C, c, n, wmma::mem_col_major);
        __syncwarp();
        acc += (unsigned)C[(unsigned)C[l] & 255];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::col_major> d;
    wmma::load_matrix_sync(d, A, 40);
    acc += (unsigned)__half2float(d.x[3]);
    out[t] = acc + (unsigned)C[t];
}
