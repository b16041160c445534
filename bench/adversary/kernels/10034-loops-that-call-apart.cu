// launch 2 64 n=20
// launch 1 96 n=33
// Two functions that call each other and return at several places, called in a loop and in an inner loop; stores conflict only between lanes of different trips.
__device__ __noinline__ unsigned odd(unsigned x, unsigned depth);
__device__ __noinline__ unsigned even(unsigned x, unsigned depth) {
    if (depth == 0) return x;
    if (x & 4) return odd(x >> 1, depth - 1) * 3;
    return x + 1;
}
__device__ __noinline__ unsigned odd(unsigned x, unsigned depth) {
    if (depth == 0) return x ^ 1;
    if (x % 3 == 0) return x + 7;
    return even(x + 5, depth - 1) + 1;
}

extern "C" __global__ void k10034(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    mine[lane] = t;
    __syncthreads();
    unsigned v = src[(t * 11 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0, at = lane; i < n; i++, at += 31) {
        mine[at] = v;
        v = even(v & 255, 5) + (i & 1);
        for (unsigned j = 0; j < (v & 3); j++) v += odd(v & 127, 4);
        mine[at] += v;
    }
    __syncthreads();
    out[blockIdx.x * 96 + t] = v + mine[lane];
}
