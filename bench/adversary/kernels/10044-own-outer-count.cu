// launch 2 64 n=3
// launch 1 96 n=7
// launch 3 48 n=12
// Each lane has its own number of trips of the outer loop; the inner one is the same for all.
__shared__ unsigned s[4096];
extern "C" __global__ void k10044(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = t;
    unsigned outer = src[(g * 3) & 1023] % (n + 1);
    for (unsigned o = 0; o < outer; ++o) {
        for (unsigned i = 0; i < 3; ++i) acc += s[(t + i * 32 + o * 33) & 4095];
        if (acc & 4) s[(t * 2 + o) & 4095] = acc & 15;
        else s[(t + o * 31) & 4095] = acc & 7;
    }
    s[(outer * 32 + t) & 4095] = 1;
    out[g] = acc;
}
