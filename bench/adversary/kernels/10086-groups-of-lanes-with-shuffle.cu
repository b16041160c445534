// launch 2 64 n=7
// launch 1 32 n=12
// Lanes grouped by match; each group recurses through three functions to its own depth, with __shfl_sync and __syncwarp of the group in them; lanes of a group never conflict, lanes of two groups would, and the reverse.
__shared__ unsigned s[2 * 512], g[2 * 1024];
#define T threadIdx.x
#define L (T & 31)
#define S(d, l) (*(volatile unsigned*)&s[(T >> 5) * 512 + 33 * (d) + (l)])
#define G(d) (*(volatile unsigned*)&g[(T >> 5) * 1024 + 32 * L + (d)])
__device__ __noinline__ unsigned two(unsigned x, unsigned d, unsigned m);
__device__ __noinline__ unsigned three(unsigned x, unsigned d, unsigned m);
__device__ __noinline__ unsigned one(unsigned x, unsigned d, unsigned m) {
    if (d == 0) return x;
    S(d, L) = x;
    __syncwarp(m);
    const unsigned u = S(d, __ffs(m) - 1);
    __syncwarp(m);
    unsigned y = (u & 2) ? two(x + 1, d - 1, m) : three(x * 3, d - 1, m);
    G(d) += y;
    return y + (u & 1);
}
__device__ __noinline__ unsigned two(unsigned x, unsigned d, unsigned m) {
    const unsigned u = __shfl_sync(m, x, __ffs(m) - 1);
    if (d == 0 || u % 13 == 7) return x + G(u & 31);
    G(u & 31) = x;
    unsigned y = three(x >> 1, d - 1, m);
    if (y & 1) return y + S(d, L);
    return y * 5;
}
__device__ __noinline__ unsigned three(unsigned x, unsigned d, unsigned m) {
    if (d == 0) return x ^ 77;
    unsigned y = one(x + d, d - 1, m);
    const unsigned u = __shfl_sync(m, y, 31 - __clz(m));
    if (u & 4) return y + u;
    S(d, L) = y;
    __syncwarp(m);
    y += S(d, __ffs(m) - 1);
    __syncwarp(m);
    return (u & 8) ? y : y + two(y & 63, d >> 2, m);
}

extern "C" __global__ void k10086(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T;
    for (unsigned d = 0; d < 14; d++) S(d, L) = d * t;
    for (unsigned d = 0; d < 32; d++) G(d) = src[(t * 32 + d) & 4095];
    __syncthreads();
    unsigned v = src[(t * 13 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        const unsigned c = (v >> 3) & 3, m = __match_any_sync(~0u, c);
        if (c == 0) v = one(v, 11, m);
        else if (c == 1) v += two(v & 511, 4 + (i & 1), m);
        else if (c == 2) v = three(v, 8, m) + 1;
        else v += G(v & 31);
        G((v >> 1) & 31) ^= v;
        v += __shfl_sync(~0u, v, L ^ (i & 31));
        S(c * 3, L) = v; __syncwarp();
        v += S(0, (L + i) & 31); __syncwarp();
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = v + s[(v & 7) * 33 + L] + g[(v & 31) * 32 + L];
}
