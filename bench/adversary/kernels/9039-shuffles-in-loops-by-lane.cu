// launch 1 32 n=1
// launch 1 64 n=4
// launch 1 26 n=3
// Reductions by shuffles in loops whose trips differ by warp, partial butterflies, prefix sums by several lanes.
__device__ __forceinline__ unsigned scan(unsigned mask, unsigned v, unsigned l) {
    for (unsigned d = 1; d < 32; d <<= 1) { unsigned u = __shfl_up_sync(mask, v, d); if (l >= d) v += u; }
    return v;
}
extern "C" __global__ void k9039(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, all = __activemask();
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    acc += s[scan(all, l & 3, l) & 1023];
    unsigned v = src[t & 1023] & 31;
    for (unsigned i = 0; i < 1 + (t >> 5); i++) { v = __shfl_xor_sync(all, v, 1u << i) & 31; acc += s[(v * 8 + l) & 1023]; }
    unsigned half = l < 16 ? all & 0xFFFF : all & 0xFFFF0000u;
    if (l < 16) { v = scan(half, l & 1, l); acc += s[(v * 32) & 1023]; } else { v = __shfl_sync(half, l * 3, 3, 16); s[(v + l) & 1023] = 1; }
    long long q = __shfl_sync(all, (long long)l << 33 | t, l / 2);
    acc += s[(unsigned)(q >> 32) & 1023] + s[(unsigned)q & 1023];
    double d = __shfl_down_sync(all, (double)l * 1.5, 2);
    acc += s[(unsigned)d & 1023];
    v = l + 4; while (!__all_sync(all, v <= 3)) v = __shfl_sync(all, v / 2, l);
    s[(v * 16 + l) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
