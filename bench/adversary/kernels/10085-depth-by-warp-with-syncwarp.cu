// launch 1 128 n=6
// launch 3 64 n=3
// A cycle whose depth differs by warp only, with __syncwarp and exchange between lanes in it, which calls a cycle whose depth differs by lane.
__shared__ unsigned s[4 * 512], g[4 * 1024];
#define T threadIdx.x
#define L (T & 31)
#define S(d, l) (*(volatile unsigned*)&s[(T >> 5) * 512 + 33 * (d) + (l)])
#define G(d) (*(volatile unsigned*)&g[(T >> 5) * 1024 + 32 * L + (d)])
__device__ __noinline__ unsigned skip(unsigned x, unsigned d);
__device__ __noinline__ unsigned hop(unsigned x, unsigned d) {
    if (d == 0 || (x & 3) == 2) return x >> 1;
    G(d + (x & 15)) = x;
    unsigned y = skip(x * 7 + 1, d - 1);
    return y + G(d);
}
__device__ __noinline__ unsigned skip(unsigned x, unsigned d) {
    if (d == 0) return x ^ G(x & 31);
    unsigned y = hop(x >> 1, d - 1);
    if (y & 1) return y;
    G(d) += y;
    return y + hop(y & 63, d >> 1);
}
__device__ __noinline__ unsigned fall(unsigned x, unsigned d);
__device__ __noinline__ unsigned rise(unsigned x, unsigned d) {
    if (d == 0) return x + L;
    S(d, L) = x;
    __syncwarp();
    unsigned y = S(d, (L * 5 + d) & 31);
    if (y & 4) y += hop(y & 255, y & 3);
    y = fall(y, d - 1);
    S(d + 7, (L + d) & 31) = y;
    __syncwarp();
    return y ^ S(d + 7, L);
}
__device__ __noinline__ unsigned fall(unsigned x, unsigned d) {
    if (d == 0) return x * 3;
    unsigned y = skip(x & 127, (x >> 3) % 4);
    y = rise(x + y, d - 1);
    __syncwarp();
    y += __shfl_sync(~0u, y, L ^ d);
    return y + ((y & 8) ? hop(y & 63, 3) : G(d));
}

extern "C" __global__ void k10085(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T;
    for (unsigned d = 0; d < 15; d++) S(d, L) = d + t;
    for (unsigned d = 0; d < 32; d++) G(d) = src[(t + d * 128) & 4095];
    __syncthreads();
    unsigned v = src[(t * 9 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        const unsigned d = ((t >> 5) * 3 + i + src[i] % 3) % 8;
        if (i & 1) v = rise(v, d < 7 ? d : 6) + i; else v = fall(v, d < 7 ? d : 3);
        if (v & 2) G(v & 31) += skip(v & 255, v % 5); else v += G(d);
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = v + s[33 * (v & 7) + L] + g[(t * 32 + v) & 1023];
}
