// launch 1 64 n=3
// launch 1 32 n=6
// Waits by clock and by the timer, with accesses inside and behind; how often they loop is unknown, what comes after is not.
extern "C" __global__ void k9811(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned begin = (unsigned)clock(), trips = 0;
    while ((unsigned)clock() - begin < 3000) { trips++; acc += s[(l * 2) & 1023]; if (trips > 10000) break; }
    acc += s[(l * 4) & 1023];
    if (l < n) { long long from = clock64(); while (clock64() - from < 1000) { acc += s[(l * 8 + trips) & 1023]; } }
    acc += s[(l * 16) & 1023];
    __syncwarp();
    acc += s[(l * 32) & 1023];
    __syncthreads();
    acc += s[(t * 3) & 1023] + s[(trips ? t : t * 2) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
