// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// A break out of two of three nested loops, by some lanes.
__shared__ unsigned s[4096];
extern "C" __global__ void k10045(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned a = 0; a < n; ++a) {
        for (unsigned b = 0; b < 3; ++b) {
            for (unsigned c = 0; c < 4; ++c) {
                unsigned v = src[(g + a * 7 + b * 3 + c) & 1023];
                if ((v & 15) == 3) goto out;
                if ((v & 3) == 2) break;
                s[(t + a * 33 + b + c * 2) & 4095] = v;
            }
            acc += s[(t + b * 31) & 4095];
        }
    out:
        s[(t * 4 + a) & 4095] = acc & 3;
    }
    out[g] = acc;
}
