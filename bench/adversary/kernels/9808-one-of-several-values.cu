// launch 1 64 n=3
// launch 1 96 n=2
// Polls of a counter that goes on: what is seen is at least a bound, and later reads may differ from the first.
extern "C" __global__ void k9808(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned count;
    if (t == 0) count = 0;
    __syncthreads();
    volatile unsigned* c = &count;
    if (w == 1) { if (l == 0) for (unsigned k = 0; k < 6; k++) { *c = k + 1; for (unsigned i = 0; i < 20 * k; i++) __nanosleep(20); } }
    else {
        unsigned v;
        do v = *c; while (v < n);
        acc += s[(v * l) & 1023] + s[(*c * l) & 1023];
        if (v == n) acc += s[(l * 8) & 1023];
        while (*c < 6);
        acc += s[(*c * l) & 1023];
    }
    __syncthreads();
    acc += s[(count * t) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
