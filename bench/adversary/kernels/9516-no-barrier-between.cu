// launch 1 64 n=1
// launch 1 96 n=2
// launch 2 128 n=3
// Races: warps and lanes that write one word without a barrier, lanes of one store that write one word; what is left are indices and truths.
extern "C" __global__ void k9516(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned word[64];
    if (t < 64) word[t] = 3;
    __syncthreads();
    word[l & 3] = l + w;
    word[8] = w;
    if (l & 1) word[9] = 1; else word[9] = 2;
    word[16 + (t & 15)] = t >> 4;
    __syncthreads();
    acc += s[((l >> 1) + word[0] * 32) & 1023];
    acc += s[(l * word[8]) & 1023];
    if (word[9] == 1) acc += s[(l * 2) & 1023]; else s[(l * 4) & 1023] = 1;
    acc += s[(l * (word[16 + (l & 15)] + 1)) & 1023];
    __syncthreads();
    word[32 + (l & 7)] = 5 * n;
    word[40 + l / 4] = l / 4;
    __syncthreads();
    acc += s[(l * word[32 + (l & 7)]) & 1023] + s[(word[40 + (l & 7)] * 4) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
