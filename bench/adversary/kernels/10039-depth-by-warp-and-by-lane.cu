// launch 2 64 n=17
// launch 1 96 n=6
// Recursion whose depth is by warp or by n, in which lanes return early by data or not at all.
__device__ __noinline__ unsigned even(volatile unsigned* p, unsigned lane, unsigned d, unsigned x) { unsigned y = p[lane + 31 * d]; if (!d) return y; return even(p, lane, d - 1, x + y) + y; }
__device__ __noinline__ unsigned some(volatile unsigned* p, unsigned lane, unsigned d, unsigned x) { unsigned y = p[lane + 31 * d]; if (!d) return y; if ((x + y) % 6 == 2) return x; return some(p, lane, d - 1, x + y) + p[lane + 31 * d]; }

extern "C" __global__ void k10039(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    v += even(mine, lane, 3 + (t >> 5), v);
    v += mine[lane];
    v += even(mine, lane, n, v);
    v += mine[lane + 31];
    v += some(mine, lane, 5, v);
    v += mine[lane + 62];
    __syncthreads();
    v += mine[lane];
    out[blockIdx.x * 96 + t] = v;
}
