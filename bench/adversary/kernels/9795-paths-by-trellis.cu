// launch 1 64 n=9
// launch 1 32 n=14
// Viterbi: add, compare, select with decisions packed by ballots, a traceback from the best state, metrics in 16 bits.
extern "C" __global__ void k9795(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned short metric[2][64]; __shared__ unsigned decision[16][2];
    for (unsigned i = t; i < 64; i += T) metric[0][i] = i ? 200 : 0;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        for (unsigned i = t; i < 64; i += T) {
            unsigned a = i >> 1, b = a + 32, symbol = src[k * 5] & 3;
            unsigned short x = metric[k & 1][a] + __popc((i * 0x6d & 0xff) ^ symbol), y = metric[k & 1][b] + __popc((i * 0x4f & 0xff) ^ symbol);
            unsigned m = __ballot_sync(~0u, y < x);
            metric[k & 1 ^ 1][i] = min(x, y);
            if (l == 0) decision[k][i >> 5] = m;
        }
        __syncthreads();
    }
    unsigned state = (t + n) & 63;
    for (int k = n - 1; k >= 0; k--) { unsigned bit = decision[k][state >> 5] >> (state & 31) & 1; state = (state >> 1) + bit * 32; acc += s[(state * 16 + l) & 1023]; }
    acc += s[metric[n & 1][t & 63] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
