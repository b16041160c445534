// launch 2 64 n=3
// launch 1 96 n=5
// launch 1 32 n=1
// __syncthreads_or decides each trip of a loop; numbers chosen by the last trip's answer meet those of this one.
extern "C" __global__ void k9404(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[4096];
    unsigned t = threadIdx.x, acc = 0, before = 0, step = 1;
    for (unsigned k = t; k < 4096; k += blockDim.x) s[k] = k;
    for (unsigned i = 0; i < n; i++) {
        unsigned now = __syncthreads_or(((src[(t + i * 64) & 2047] >> i) & 63) == 5 + i) ? 1 : 0;
        acc += s[(t * (now ? 33 : 32) + before) & 4095];
        acc += s[(t * (before == now ? 2 : 4)) & 4095];
        unsigned x = (now ? 5u : 9u) ^ (before ? 12u : 3u);
        acc += s[(t * x) & 4095];
        step = before ? step * 2 : step + 1;
        acc += s[(t * step) & 4095];
        if (now != before) s[(t * 8) & 4095] = acc;
        before = now;
    }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
