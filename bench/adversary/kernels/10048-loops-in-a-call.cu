// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// A called function loops as often as its lane says; it is called in a loop with a branch around it.
__shared__ unsigned s[4096];
__noinline__ __device__ unsigned walk(const unsigned* src, unsigned at, unsigned t, unsigned o) {
    unsigned i = 0, sum = 0;
    while ((src[(at + i) & 1023] & 3) && i < 6) {
        s[(t + i * 33 + o * 32) & 4095] = i;
        sum += s[(t * 2 + i) & 4095];
        ++i;
    }
    return i;
}
extern "C" __global__ void k10048(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        unsigned i = 9;
        if (src[(g + o) & 1023] & 1) i = walk(src, g + o * 2, t, o);
        s[(t + i * 32 + o) & 4095] = i;
    }
    out[g] = acc;
}
