// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// A switch in a loop that lanes leave in different trips, one case of which continues.
__shared__ unsigned s[4096];
extern "C" __global__ void k10046(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    unsigned state = src[g & 1023] & 3;
    for (unsigned i = 0; i < 4 * n; ++i) {
        switch (state) {
            case 0: s[(t + i) & 4095] = 1; state = src[(g + i) & 1023] & 3; break;
            case 1: acc += s[(t * 2 + i * 33) & 4095]; state = 2; continue;
            case 2: s[(t * 3 + i * 32) & 4095] = i; state = src[(g ^ i) & 1023] & 3; break;
            default: if (acc & 8) state = 0; else { acc += 8; state = 1; } break;
        }
        if (src[(g * 5 + i) & 1023] % 11 == 0) break;
    }
    s[(t + acc * 32) & 4095] = state;
    out[g] = acc;
}
