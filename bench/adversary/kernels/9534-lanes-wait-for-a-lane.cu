// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 49 n=2
// Lanes poll a volatile word until one lane of their own warp has set it, before and behind it in the code; what it says is a pitch.
extern "C" __global__ void k9534(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned flag[4], word[4];
    if (t < 4) { flag[t] = 0; word[t] = 9; }
    __syncthreads();
    unsigned who = src[n] & 15;
    if (l == who) { acc += s[(l * 2) & 1023]; word[w] = n + 2; __threadfence_block(); flag[w] = 1; }
    else { while (flag[w] == 0) __nanosleep(5); }
    unsigned v = word[w];
    acc += s[(l * v) & 1023];
    __syncwarp(__activemask());
    s[(l * (v + 1)) & 1023] = acc;
    __syncthreads();
    if (l != who) { unsigned spins = 0; while (flag[w] == 1) { spins++; if (spins == 1) acc += s[(l * 4) & 1023]; } acc += s[((l >> 1) + (spins ? 32 : 0)) & 1023]; }
    else { __nanosleep(200); flag[w] = 2; }
    __syncthreads();
    acc += s[(l * flag[w]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
