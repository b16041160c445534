// launch 1 64 n=8
// launch 1 8x8 n=7
// Cholesky in shared memory with two-dimensional blocks, right-looking, guarded by the triangle; then the row of the diagonal.
extern "C" __global__ void k9729(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float A[16][17];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 256; i += T) A[i / 16][i % 16] = i % 17 ? 1.f / (1 + (src[i] & 7)) : 9.f;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        if (t == 0) A[k][k] = sqrtf(A[k][k]);
        __syncthreads();
        for (unsigned i = k + 1 + t; i < n; i += T) A[i][k] = A[i][k] / A[k][k];
        __syncthreads();
        for (unsigned e = t; e < (n - k - 1) * (n - k - 1); e += T) { unsigned i = k + 1 + e / (n - k - 1), j = k + 1 + e % (n - k - 1); if (j <= i) A[i][j] -= A[i][k] * A[j][k]; }
        __syncthreads();
    }
    acc += (unsigned)(A[t & 15][t & 15] * 8) + (unsigned)A[t & 15][t >> 4 & 15];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
