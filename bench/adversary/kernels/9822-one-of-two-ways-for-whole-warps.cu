// launch 1 64 n=3
// launch 2 64 n=10
// launch 1 32 n=0
// Registers that one way writes, and that only its followers read; complementary guards; values of earlier trips.
extern "C" __global__ void k9822(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[4096];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0, pitch, start;
    for (unsigned i = t; i < 4096; i += T) s[i] = i;
    __syncthreads();
    bool cond = src[n] & 1;
    if (cond) pitch = src[n + 1] & 7; else pitch = n + 1;
    start = n > 2 ? src[3] & 63 : 1;
    unsigned kept = 0;
    for (unsigned k = 0; k < n; ++k) {
        unsigned way = src[k] & 3, x;
        if (way == 1) { x = t * 4 + k; kept = x; }
        else if (way == 2) x = t * pitch;
        else x = kept + t;
        acc += s[(x + start) & 4095];
        if (way != 3) acc += s[(x * 2) & 4095];
    }
    for (unsigned k = 0; k < 4; ++k) { unsigned long long o = cond ? 3ull * t : 5ull * t + k; acc += s[o & 4095]; }
    acc += s[(kept * 8 + pitch * t) & 4095];
    out[(blockIdx.x * T + t) & 1023] = acc;
}
