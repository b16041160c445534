// launch 1 64 n=2
// launch 2 128 n=4
// launch 1 32x6 n=3
// The histogram with a byte per thread and bin: places of threads with permuted bits, merged at rotated starts by dp4a.
extern "C" __global__ void k9112(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned char h[32 * 192];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k * 3;
    unsigned* words = (unsigned*)h;
    for (unsigned k = t; k < 8 * size; k += size) words[k] = 0;
    __syncthreads();
    unsigned place = (t & ~63u) | (t & 15) << 2 | (t & 48) >> 4;
    for (unsigned k = 0; k < n; k++) {
        unsigned v = src[(t + k * 191) & 2047] * 0x01020408u;
        for (unsigned b = 0; b < 4; b++) h[place + ((v >> (b * 8 + 3)) & 31) * size]++;
    }
    __syncthreads();
    unsigned row = size / 4;
    if (t < 32) {
        unsigned sum = 0, at = t % row;
        for (unsigned k = 0; k < row; k++) {
            sum = __dp4a(words[t * row + at], 0x01010101u, sum);
            if (++at == row) at = 0;
        }
        s[(t * 33) & 1023] = sum;
        acc += s[(sum * 4 + t) & 1023];
    }
    __syncthreads();
    unsigned own = h[place + (t & 31) * size];
    acc += s[(own * t) & 1023];
    acc += s[(s[(t & 31) * 33] * (t & 7)) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
