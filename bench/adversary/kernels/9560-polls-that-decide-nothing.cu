// launch 1 64 n=1
// launch 1 96 n=3
// Each lane polls a word of its own that another warp sets in turn; behind the loop lanes are apart, and take masks and words.
extern "C" __global__ void k9560(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned ready[32], word;
    if (t < 32) ready[t] = 0;
    if (t == 0) word = 5;
    __syncthreads();
    if (w == 1) { for (unsigned k = 0; k < 4; k++) { if ((l & 3) == ((k + n) & 3)) ready[l] = 1; __nanosleep(400); } }
    else if (w == 0) {
        while (ready[l] == 0) { }
        unsigned m = __activemask(), x = word;
        if (l == __ffs(m) - 1) word = x + 1;
        acc += s[(l * 4) & 1023];
        __syncwarp();
        acc += s[((l >> 1) + (m & 1) * 32) & 1023];
        acc += s[((l >> 1) + (x & 1) * 32) & 1023];
        s[(l * (x & 3)) & 1023] = acc;
    }
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
