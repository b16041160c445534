// launch 2 64 n=11
// launch 1 96 n=24
// A cycle of three functions entered at a different function by half warp, by warp and by data; stride 2 conflicts only if both halves are in one request; a helper is called from all of the cycle.
__shared__ unsigned s[4 * 1024];
#define T threadIdx.x
#define R(k) (*(volatile unsigned*)&s[(T >> 5) * 1024 + 64 * (k) + 2 * (T & 31) + ((k) & 1)])
__device__ __noinline__ unsigned touch(unsigned k, unsigned x) {
    const unsigned old = R(k);
    R(k) = old * 3 + x;
    if (old & 1) return x + 1;
    return x ^ R(k + 1);
}
__device__ __noinline__ unsigned B(unsigned x, unsigned d);
__device__ __noinline__ unsigned C(unsigned x, unsigned d);
__device__ __noinline__ unsigned A(unsigned x, unsigned d) {
    if (d == 0) return touch(0, x);
    unsigned y = touch(d, x);
    if ((y & 15) == 9) return y >> 3;
    y = B(y >> 1, d - 1);
    R(d + 1) += y;
    return y + 1;
}
__device__ __noinline__ unsigned B(unsigned x, unsigned d) {
    if (d == 0) return x >> 1;
    unsigned y;
    if (x & 1) y = C(x * 5 + 3, d - 1);
    else { y = A(x >> 1, d - 1); y += touch(d, y); }
    return y ^ R(d);
}
__device__ __noinline__ unsigned C(unsigned x, unsigned d) {
    R(d) = x;
    if (d == 0 || x % 11 == 4) return x + 9;
    unsigned y = A(x + 17, d - 1);
    if (y & 2) y += touch(d + 2, y);
    return y * 3 + R(y & 7);
}

extern "C" __global__ void k10082(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    for (unsigned k = 0; k < 16; k++) R(k) = src[(t * 16 + k) & 4095];
    __syncthreads();
    unsigned v = src[(t * 7 + n) & 4095] + blockIdx.x;
    const unsigned where = ((lane >> 4) + (t >> 5)) % 3;
    if (where == 0) v = A(v & 4095, 9);
    else if (where == 1) v = B(v & 4095, 8);
    else v = C(v & 4095, 7);
    R(v & 15) += v;
    for (unsigned i = 0; i < n; i++) {
        const unsigned m = (v >> 2) % 4;
        if (m == 3) { R(i & 15) ^= v; v += touch(i & 7, v); continue; }
        v = (m == 0 ? C(v & 255, i & 7) : m == 1 ? A(v & 255, 5) : B(v & 511, lane & 7)) + i;
        R(v & 15) += i;
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = v + s[(v * 2 + t * 32) & 958];
}
