// launch 1 64 n=37
// launch 2 7x5x3 n=255
// launch 3 100 n=4294967295
// launch 2 16x9 n=2147483648
// Quotients and remainders of 8 to 128 bits, signed and unsigned, by constants and by divisors that vary by lane, by trip and
// by what the kernel stored; negative indices, the most negative value by minus one, remainders in loops whose trips differ.
__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

// the most negative value by minus one wraps; by zero is left alone
__device__ __forceinline__ int quotient(int a, int b)
{
    if (b == 0) return a;
    if (b == -1) return static_cast<int>(0u - static_cast<unsigned>(a));
    return a / b;
}

__device__ __forceinline__ int floored_remainder(int a, int m)
{
    const int r = a % m;
    return r < 0 ? r + m : r;
}

extern "C" __global__ void k9885(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    __shared__ unsigned short halves[512];
    __shared__ unsigned long long wide[256];
    __shared__ unsigned divisors[64];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const int lane = t & 31;
    for (unsigned i = t; i < 1024; i += all) s[i] = i * 5 + 3;
    for (unsigned i = t; i < 512; i += all) halves[i] = static_cast<unsigned short>(i * 1021u - n);
    for (unsigned i = t; i < 256; i += all) wide[i] = i * 0x9E3779B97F4A7C15ull;
    for (unsigned i = t; i < 64; i += all) divisors[i] = (n >> (i & 15)) % (i + 2);
    __syncthreads();
    unsigned acc = 0;

    // 8 bits: promoted to 32, narrowed again; -128 / -1 is 128 is -128
    const signed char a8 = static_cast<signed char>(t * 5 + n);
    signed char d8 = static_cast<signed char>(lane * 8 - 129);
    if (d8 == 0) d8 = -1;
    const signed char q8 = static_cast<signed char>(a8 / d8), r8 = static_cast<signed char>(a8 % d8);
    acc = mix(acc, s[512 + q8 * 2 + r8]);
    const unsigned char b8 = static_cast<unsigned char>(a8 - 7 * lane);
    acc = mix(acc, s[static_cast<unsigned char>(b8 / 10 * 33) * 4]);

    // 16 bits, from stored halves: truncated against floored
    const short a16 = static_cast<short>(halves[t * 3 & 511]);
    const short m16 = static_cast<short>(17 + (lane & 7) * 2);
    acc = mix(acc, s[512 + a16 % m16 * 8 + floored_remainder(a16, m16)]);

    // 32 bits by a divisor of the lane, with the two odd cases; negative indices
    const int a32 = static_cast<int>(n + t * 0x01000001u);
    acc = mix(acc, s[quotient(a32, lane - 1) & 1023]);
    const unsigned* middle = s + 512;
    acc = mix(acc, middle[(static_cast<int>(t * 13) - static_cast<int>(n & 1023)) / 3 % 512]);

    // 64 bits: by constants, by lanes, and in some lanes only
    const long long a64 = static_cast<long long>(wide[t & 255] - n);
    long long d64 = static_cast<long long>(lane - 16) * 0x10000001ll;
    if (d64 == 0) d64 = 0x7fffffffffffll;
    acc = mix(acc, static_cast<unsigned>(wide[(a64 / d64 + a64 / 1000000007ll) & 255]));
    if ((t ^ n) & 4) acc = mix(acc, static_cast<unsigned>(wide[static_cast<unsigned long long>(a64) % (d64 | 1ull) & 255] >> 32));
    acc = mix(acc, s[512 + static_cast<int>(a64 % 509)]);

    // 128 bits
    const __int128 a128 = a64 * (static_cast<__int128>(1) << 37) - static_cast<__int128>(n) * t;
    const __int128 d128 = (static_cast<__int128>(lane + 1) << (lane + lane)) - 0x123456789abcll;
    acc = mix(acc, s[static_cast<unsigned>(a128 / (d128 == 0 ? 3 : d128)) & 1023]);
    acc = mix(acc, halves[static_cast<unsigned>(static_cast<unsigned __int128>(a128) % (wide[(t + 1) & 255] | 1)) & 511]);

    // Euclid: trips and addresses by lane
    unsigned x = t * 12 + (n & 4095) + 1, y = divisors[lane] + 6;
#pragma unroll 1
    while (y != 0) {
        const unsigned r = x % y;
        acc = mix(acc, s[(x / y * 32 + r) & 1023]);
        x = y;
        y = r;
    }
    __syncthreads();
    halves[t] = static_cast<unsigned short>(x);
    __syncthreads();
    acc = mix(acc, s[halves[(t ^ 1) < all ? t ^ 1 : 0] * 16 & 1023]);

    // an 8-bit counter that passes through zero; the ring goes backwards
#pragma unroll 1
    for (unsigned char c = static_cast<unsigned char>(252 - 2 * (lane & 3)); c != 4; c += 2) {
        const int at = static_cast<signed char>(c) * 7 - static_cast<int>(t);
        acc = mix(acc, s[(at % 96 + 96) % 96 * 8]);
    }
    // contents of src as dividend and as divisor
    const unsigned word = src[t & 1023];
    acc = mix(acc, s[word % (lane + 1) * 32 & 1023]);
    acc = mix(acc, s[(n + t * 64) / (word % 7 + 1) & 1023]);
    out[(blockIdx.x * all + t) & 65535] = acc;
}
