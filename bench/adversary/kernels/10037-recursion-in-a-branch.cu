// launch 2 64 n=17
// launch 1 96 n=6
// Some lanes recurse in a branch, by data; the others wait; then loops by n and a barrier.
__device__ __noinline__ unsigned walk(unsigned x, volatile unsigned* p, unsigned d) { if (!d) return p[x & 31]; if (x & 2) return walk(x >> 1, p, d - 1) + 1; unsigned y = walk(x + 9, p, d >> 1); return y & 4 ? y : y + walk(y & 31, p, 0); }

extern "C" __global__ void k10037(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    if (v & 4) v = walk(v & 255, few, 4);
    else v += mine[lane];
    v += mine[lane + 31];
    for (unsigned i = 0, at = lane; i < n; i++, at += 31) { v += mine[at]; if (v % 11 == 5) v = walk(v & 127, few, 3); }
    __syncthreads();
    v += mine[lane + 62];
    out[blockIdx.x * 96 + t] = v;
}
