// launch 2 64 n=20
// launch 1 96 n=33
// Lanes recurse to different depths and return early, in a loop whose stores conflict only between lanes of different trips; the same function is called behind it.
__device__ __noinline__ unsigned deep(unsigned x, volatile unsigned* p, unsigned depth) {
    if (depth == 0 || (x & 3) == 3) return x >> 1;
    unsigned y = deep(x * 5 + 1, p, depth - 1);
    if (y & 1) return y >> 1;
    if ((y & 6) == 2) y += deep(y >> 2, p, depth >> 1);
    return y + p[x & 7];
}

extern "C" __global__ void k10033(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[8];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 8) few[t] = src[t * 9] & 15;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0, at = lane; i < n; i++, at += 31) {
        mine[at] = v;
        v = deep(v & 1023, few, 3 + (v & 1)) + i;
        if (v % 7 == 3) continue;
        mine[at] = v + 1;
        if (v % 29 == 5) break;
    }
    __syncthreads();
    v += mine[lane] + deep(v & 511, few, 2);
    out[blockIdx.x * 96 + t] = v;
}
