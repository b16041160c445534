// launch 1 64 n=7
// launch 1 64 n=13
// Signed division and modulo by constants, parameters and lanes, in 16, 32 and 64 bits, of numbers on both sides of zero.
extern "C" __global__ void k9764(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    int x = (int)t * 29 - 700, m = (int)n, d = (int)(l % 7) - 9; long long y = (long long)x * 1000003; short h = (short)(x * 31); unsigned char u = (unsigned char)(x * 3);
    acc += s[(x / 7 + 200) & 1023] + s[(x % 7 + 8) * 32] + s[(x / -3) & 1023] + s[(x % 1024) & 1023] + s[(x / m) & 1023] + s[((x % m) + m) % m * 32] + s[(x / d) & 1023] + s[(x % d + 16) * 16 & 1023];
    acc += s[(unsigned)(y / m) & 1023] + s[(unsigned)(y % 97 + 97) & 1023] + s[(unsigned)((unsigned long long)y / 1000) & 1023] + s[(unsigned)(y / (d * 11LL)) & 1023] + s[(unsigned)((unsigned long long)y % (n + 5)) & 1023];
    acc += s[(h / 5) & 1023] + s[(h % (short)m) & 1023] + s[u / 3] + s[u % m * 8] + s[((unsigned)x / 10) & 1023] + s[(unsigned)x % 1000] + s[(x < 0 ? ~(~x / m) : x / m) & 1023];
    acc += s[(x / 641) & 1023] + s[(unsigned)x % 0x7fffffffu & 1023] + s[(x / (1 << (l & 7))) & 1023] + s[(x >> (l & 7)) & 1023] + s[((t * 171) >> 9)] + s[__umulhi(t * 77, 0x55555556u) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
