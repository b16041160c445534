// launch 2 64 n=17
// launch 1 96 n=6
// Recursive functions between barriers of the block, in a loop by n.
__device__ __noinline__ unsigned tree(volatile unsigned* p, unsigned node, unsigned x) { if (node >= 16) return x & 7; unsigned y = p[node]; return (x >> node) & 1 ? tree(p, node * 2, x + y) : tree(p, node * 2 + 1, x ^ y) + 1; }

extern "C" __global__ void k10040(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        const unsigned r = tree(few, 1, v);
        __syncthreads();
        mine[lane + 31 * r] = v;
        __syncthreads();
        v += mine[lane] + r;
    }
    v += mine[lane + 31];
    out[blockIdx.x * 96 + t] = v;
}
