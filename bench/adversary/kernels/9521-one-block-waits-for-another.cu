// launch 2 32 n=1
// launch 4 64 n=3
// Blocks poll a word of global memory that the block before them sets; the value is a pitch, a truth and a trip count.
extern "C" __global__ void k9521(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned got;
    volatile unsigned* chain = out + 3072;
    unsigned b = blockIdx.x;
    __syncthreads();
    if (t == 0) {
        unsigned v = n;
        if (b) { do v = chain[b - 1]; while (v == 3072 + b - 1); __threadfence(); }
        got = v;
        chain[b] = (v * 3 + 1) & 63;
        __threadfence();
    }
    __syncthreads();
    unsigned v = got;
    acc += s[(l * v) & 1023];
    if (v & 2) s[(l * 4) & 1023] = v; else s[(l * 2) & 1023] = v;
    for (unsigned k = 0; k < (v & 3); k++) acc += s[(l * 3 + k) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
