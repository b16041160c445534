// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// Lanes leave an inner loop in different trips; __syncwarp joins them in some trips of the outer one.
__shared__ unsigned s[4096];
extern "C" __global__ void k10049(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    for (unsigned o = 0; o < n; ++o) {
        unsigned i = src[(g + o) & 1023] & 1;
        while (src[(g + o * 3 + i) & 1023] & 3) {
            s[(t + i * 65) & 4095] = o;
            if (++i > 7) break;
        }
        if (o & 1) __syncwarp(blockDim.x - (t & ~31u) >= 32 ? 0xffffffffu : (1u << (blockDim.x & 31)) - 1);
        s[(t + o * 33) & 4095] = i;
        acc += s[(t * 2 + o) & 4095];
    }
    out[g] = acc;
}
