// launch 1 32 n=0
// launch 1 64 n=1
// launch 2 96 n=3
// WMMA: fragments of halves loaded with a pitch from n, in both layouts, by some warps; the products are stored, then are addresses.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k9122(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) half a[32 * 40], b[32 * 40];
    __shared__ __align__(128) float c[3][16 * 28];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0, pitch = 16 + 8 * n;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 32 * 40; k += size) { a[k] = __float2half((float)(src[k] & 3)); b[k] = __float2half((float)(k % 3)); }
    for (unsigned k = t; k < 3 * 448; k += size) (&c[0][0])[k] = (float)(k & 31);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fr;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fc, c[w], 16 + 4 * n, wmma::mem_row_major);
    for (unsigned k = 0; k < 2; k++) {
        wmma::load_matrix_sync(fa, a + k * 16 * (w + 1), pitch);
        if ((w + k) & 1) {
            wmma::load_matrix_sync(fb, b + k * 16, pitch);
            wmma::mma_sync(fc, fa, fb, fc);
        } else {
            wmma::load_matrix_sync(fr, b + 16 * n, pitch);
            wmma::mma_sync(fc, fa, fr, fc);
        }
    }
    __syncwarp();
    if (w & 1) wmma::store_matrix_sync(c[w], fc, 16 + 4 * n, wmma::mem_col_major);
    else wmma::store_matrix_sync(c[w], fc, 28, wmma::mem_row_major);
    __syncthreads();
    acc += s[(unsigned)(int)c[w][l * 13 % 448] & 1023];
    acc += s[(l * pitch) & 1023];
    s[((unsigned)(int)c[w][(l * 28 + w) % 448] * 32 + l) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
