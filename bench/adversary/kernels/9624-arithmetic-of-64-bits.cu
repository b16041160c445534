// launch 1 64 n=3
// launch 2 33 n=10
// launch 1 32 n=64
// Addresses by 64-bit products, shifts, quotients, remainders, high words, minima, masks and funnel shifts.
extern "C" __global__ void k9624(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; unsigned long long G = g, N = n; long long s = (long long)g - 20;
    acc += src[G * 0x100000003ull >> 2 & 1023] + src[(G << 40 | G) >> 39 & 2047] + src[G / (N + 1)] + src[G % (N + 1) * 9];
    acc += src[__umul64hi(G << 58, 0x1400000000000000ull ) & 511] + src[2048 + s / 3] + src[2048 + s % 7] + src[2048 + s * (long long)n % 1024];
    acc += src[min(G * 5, N * 7)] + src[max(s, -3ll) + 100] + src[2048 + (s >> 2)] + src[(G * G + N) & 1023];
    acc += ((const uint2*)src)[__umul64hi(G * N, 0x8000000000000000ull)].x + ((const unsigned short*)src)[(unsigned)(G * 7 >> 1)];
    acc += src[(unsigned)((0x123456789abcdefull >> (t & 31)) & 255)] + src[__ffsll(G * 3 + 1) * 8] + src[__popcll(G * 0x101) * 5] + src[64 - __clzll(G + 1)];
    acc += src[(unsigned)((double)g * 1.5)] + src[(unsigned)(f * t)] + src[__double2ull_rz(G / 2.5)];
    out[G * N & 8191] = acc; ((unsigned long long*)out)[5000 + s * 2] = acc; ((unsigned char*)out)[(G * 0x10001 >> 3) + 50000 & 65535] = (unsigned char)acc;
}
