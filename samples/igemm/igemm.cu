// Eight-bit integer matrix product with dp4a: 32 x 32 of C a block, 32 bytes of k at a time as 8 words.
// A is m x k row-major, B is n x k row-major (transposed), C = A * B^T.

extern "C" __global__ void __launch_bounds__(256) igemm_dp4a(const int* a, const int* b, int* c, int n, int k_words) {
    __shared__ int as[32][8 + 1];
    __shared__ int bs[8][32];
    int tid = threadIdx.x;
    int tx = tid % 32;
    int ty = tid / 32;
    int row = tid / 8;
    int word = tid % 8;
    int sum[4] = {};
    for (int k0 = 0; k0 < k_words; k0 += 8) {
        as[row][word] = a[(blockIdx.y * 32 + row) * k_words + k0 + word];     // site: a-store
        bs[word][row] = b[(blockIdx.x * 32 + row) * k_words + k0 + word];     // site: b-store
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 8; ++kk) {
            int bv = bs[kk][tx];                                              // site: b-load
#pragma unroll
            for (int i = 0; i < 4; ++i) sum[i] = __dp4a(as[ty * 4 + i][kk], bv, sum[i]);   // site: a-load
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) c[(blockIdx.y * 32 + ty * 4 + i) * n + blockIdx.x * 32 + tx] = sum[i];
}
