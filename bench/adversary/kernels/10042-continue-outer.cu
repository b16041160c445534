// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// Some lanes go on with the next trip of the outer loop from the midst of the inner one.
__shared__ unsigned s[4096];
extern "C" __global__ void k10042(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        for (unsigned i = 0; i < 5; ++i) {
            unsigned v = src[(g + o * 3 + i) & 1023];
            s[(t * 3 + o * 32 + i) & 4095] = v;
            if (v & 1) goto next;
            acc += s[(t + i * 32 + o) & 4095];
        }
        s[(t + o) & 4095] = acc;
    next:;
    }
    out[g] = acc;
}
