// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// Some lanes return from within an inner loop; the others go on.
__shared__ unsigned s[4096];
extern "C" __global__ void k10047(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        unsigned i = 0;
        do {
            if (src[(g + o * 11 + i) & 1023] % 37 == 1) { out[g] = acc; return; }
            s[(t + i * 33 + o) & 4095] = i;
            ++i;
        } while (i < (src[(g + o) & 1023] & 3));
        acc += s[(t + o * 32) & 4095];
        s[(t * 2 + i) & 4095] = 5;
    }
    out[g] = acc;
}
