// launch 2 48 n=3
// launch 1 32 n=65537
// Indices of 64 bits whose lower 32 bits run over; strides below zero; remainders of negative numbers.
extern "C" __global__ void k9655(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; int t = threadIdx.x; unsigned acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; __syncthreads();
    long long w = (long long)n * n * (t + 1) * 65537; acc += s[w >> 30 & 63]; acc += s[(unsigned)(w % 37)]; acc += s[(int)(-w % 41) + 41]; acc += s[1000 - t * (int)(n & 7)]; acc += s[(unsigned)(w / 0x10001) & 127];
    unsigned long long u = 0xffffffff00000000ull + (unsigned)t * 0x10000001ull; acc += s[u >> 28 & 255]; acc += s[u % 1000]; acc += s[__umul64hi(u, u) & 63]; acc += s[__mul64hi(-w, w) & 31]; acc += s[(u / (n + t)) & 1023];
    acc += s[__funnelshift_l((unsigned)u, n, t) & 511]; acc += s[__funnelshift_rc(n, (unsigned)w, t + 20) & 511]; out[blockIdx.x * 48 + t] = acc;
}
