// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// Lanes leave an inner loop in different trips and wait, or not, before the next trip of the outer one.
__shared__ unsigned s[4096];
extern "C" __global__ void k10041(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        unsigned limit = src[(g + o * 5) & 1023] & 7;
        for (unsigned i = 0; i < limit; ++i) {
            s[(t + i * 33) & 4095] = acc;
            acc += i;
        }
        acc += s[(t * 2 + o * 31) & 4095];
    }
    out[g] = acc;
}
