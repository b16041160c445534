// launch 2 64 n=17
// launch 1 96 n=6
// Functions chosen by lane through pointers, with early returns, in a loop; then a barrier.
__device__ __noinline__ unsigned f0(unsigned x) { if (x & 1) return x + 3; return x >> 1; }
__device__ __noinline__ unsigned f1(unsigned x) { for (unsigned i = 0; i < (x & 3); i++) { if (x % 5 == 2) return x + i; x = x * 3 + 1; } return x; }
__device__ __noinline__ unsigned f2(unsigned x) { return x ^ 21; }
typedef unsigned (*Step)(unsigned);
__constant__ Step steps[4] = {f0, f1, f2, f1};

extern "C" __global__ void k10035(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0, at = lane; i < n; i++, at += 31) {
        mine[at] = v;
        v = steps[(v >> 2) & 3](v & 1023);
        mine[at] += v;
    }
    __syncthreads();
    v += mine[lane];
    out[blockIdx.x * 96 + t] = v;
}
