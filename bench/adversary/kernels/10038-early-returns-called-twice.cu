// launch 2 64 n=17
// launch 1 96 n=6
// A function with loops and early returns, called at two places in a loop and behind it.
__device__ __noinline__ unsigned scan(volatile unsigned* p, unsigned lane, unsigned x, unsigned n) {
    for (unsigned i = 0; i < 3 + (x & 7); i++) { unsigned y = p[lane + 31 * i]; if ((y + x) % 5 == 1) return y + i; x += y; if ((x & 15) == 9) return x; }
    return x;
}

extern "C" __global__ void k10038(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        v += scan(mine, lane, v, n) & 255;
        if (v % 3 == 1) continue;
        mine[lane + 31 * i] = v;
        v ^= scan(mine, lane, v >> 2, n) & 63;
    }
    __syncthreads();
    v += scan(mine, lane, v & 3, n) + mine[lane];
    out[blockIdx.x * 96 + t] = v;
}
