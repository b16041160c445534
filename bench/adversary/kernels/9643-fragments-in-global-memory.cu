// launch 1 32 n=16
// launch 1 64 n=24
// launch 2 32 n=40
// wmma loads and stores of global memory: rows, columns, half, bytes and floats, with pitches from a parameter.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k9643(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, ld = n / 8 * 8;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a; wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b; wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, (const __half*)src + w * 16, ld); wmma::load_matrix_sync(b, (const __half*)src + 1024, 24); wmma::fill_fragment(c, f); wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync((float*)out + w * 1024, c, ld, wmma::mem_row_major); wmma::store_matrix_sync((float*)out + 4096 + w * 256, c, 16, wmma::mem_col_major); wmma::load_matrix_sync(c, (const float*)src + 512, 20, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 32, 8, 16, unsigned char, wmma::col_major> d; wmma::load_matrix_sync(d, (const unsigned char*)src + w * 32, 48);
    out[12288 + blockIdx.x * blockDim.x + threadIdx.x] = (unsigned)c.x[1] + d.x[3];
}
