// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 41 n=5
// Lanes that a nap diverged load one volatile word at one instruction, and each group changes it for the next.
extern "C" __global__ void k9505(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned word[8];
    if (t < 8) word[t] = 1;
    __syncthreads();
    if (src[l * 3 + n] & 2) { __nanosleep(30); acc = 1; }
    unsigned x = word[w];
    if (l == __ffs(__activemask()) - 1) word[w] = x + 1;
    __syncthreads();
    acc += s[((l >> 1) + x * 32) & 1023];
    s[(l * x) & 1023] = acc;
    if (x > 1) acc += s[(l * 4) & 1023];
    unsigned most = src[l + n] & 3, y = 0;
    for (unsigned k = 0; k <= most; k++) { y = word[w]; if (l == __ffs(__activemask()) - 1) word[w] = y + 3; }
    __syncwarp();
    acc += s[((l >> 1) + y * 32) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
