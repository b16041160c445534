// launch 1 128 n=4
// launch 1 96 n=6
// Warps hand a vector round a ring by flags of volatile words, with no block barrier: reduce-scatter, then gather.
extern "C" __global__ void k9775(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ volatile unsigned hand[4][32], flag[4];
    if (l == 0) flag[w & 3] = 0;
    __syncthreads();
    unsigned W = T / 32, mate = (w + 1) % W, v = l * (w + 1);
    for (unsigned k = 1; k <= n; k++) {
        if (l == 0) while (flag[mate] & 1) ;
        __syncwarp();
        hand[mate][(l * 3) & 31] = v;
        __threadfence_block(); __syncwarp();
        if (l == 0) flag[mate] = 1;
        if (l == 0) while (!(flag[w] & 1)) ;
        __syncwarp();
        v = hand[w][l] + k;
        __syncwarp();
        if (l == 0) { __threadfence_block(); flag[w] = 0; }
        acc += s[(v * 2) & 1023];
    }
    __syncthreads();
    acc += s[(v * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
