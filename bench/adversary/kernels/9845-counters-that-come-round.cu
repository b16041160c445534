// launch 1 40 n=5
// launch 2 5x7x3 n=1
// launch 1 64 n=250
// launch 2 4x4x6 n=31
// Counters of 8, 16, 32 and 64 bits that wrap before they meet their bound, run backwards past zero, or cross 2^32;
// signed steps, negative remainders, shifts by 32 and more, a generic pointer to one of two arrays of 16 bits.
__device__ __forceinline__ unsigned shl(unsigned x, unsigned k) {
    unsigned r = k < 32 ? x << k : 0;
    asm volatile("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(k));
    return r;
}
__device__ __forceinline__ int sar(int x, unsigned k) {
    int r = x >> (k < 32 ? k : 31);
    asm volatile("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(k));
    return r;
}
extern "C" __global__ void k9845(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048];
    __shared__ unsigned short a[1024], b[1536];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i; a[i & 1023] = 3; b[i % 1536] = 5; }
    __syncthreads();
    // an odd step meets zero at last, after some rounds of 256
    unsigned trips = 0;
    for (unsigned char c = (unsigned char)(t * 37 + n); c; c = (unsigned char)(c + 65 + 2 * l)) {
        acc += s[(c * 4 + trips) & 2047];
        if (++trips > 50) break;
    }
    acc += s[(trips * l) & 2047];
    // 61 is too wide a step for the gap 100..127
    trips = 0;
    for (signed char c = (signed char)(l * 3 - 50); c < 100; c = (signed char)(c + 61)) {
        acc += s[(unsigned)(c * 2) & 2047] + s[(unsigned)(c % 13 + 13) * 16 + (trips & 7)];
        ++trips;
    }
    acc += s[(trips * 33 + l * trips) & 2047];
    // 16 bits, product truncated at each trip; the bound is of 32 bits
    unsigned short u = (unsigned short)(l + n);
    for (int k = 0; k < 300 && u < 60000 + l; k += 7 + (u & 15)) {
        u = (unsigned short)(u * 205 + 77);
        acc += s[(u >> 5) & 2047] + a[u & 1023];
    }
    // crosses 2^32 in the midst
    for (unsigned long long i = 0xffffffffull - l * 2; i < 0x100000008ull + l; i += 5) {
        acc += s[(unsigned)(i >> 1) & 2047];
        acc += s[((unsigned)(i >> 32) * l * 8 + (unsigned)i * 2) & 2047];
    }
    // ends by going below zero
    for (unsigned i = l * 2 + (n & 15); i < 1000; i -= 9) acc ^= s[(i * (1 + (l & 1))) & 2047];
    for (unsigned i = l; i-- > l / 2;) acc += s[(i * 32 + l) & 2047];
    for (int i = 20 - (int)l; i > -24; i -= 3 + (int)(l & 3)) {
        acc += s[(unsigned)(i / 4 + 64) * 8 + (unsigned)(i >> 2 & 3)];
        acc += s[(unsigned)(i % 8 * 4 + (int)l) & 2047];
    }
    // shifts clamp, the language's own wrap
    for (unsigned k = 28; k < 37; ++k) {
        unsigned q = shl(l + 1, k - (l & 7)) >> 20;
        unsigned r = (unsigned)sar((int)(0x80000000u + l * 65536u), k - 16 + l) & 31;
        acc += s[(q + r * 4) & 2047];
        acc += s[(__funnelshift_l(l, t * 2, k) + __funnelshift_rc(l << 4, 1, k)) & 2047];
    }
    // one pointer for two arrays, with a bound and a direction of its own
    const unsigned short *p = l & 1 ? a + l * 8 : b + 1535 - l * 3, *end = l & 1 ? a + 1000 : b + 64;
    long long step = l & 1 ? 41 + 2 * (long long)l : -(long long)(64 + l);
    asm volatile("" : "+l"(p));
    while ((step > 0 && p < end) || (step < 0 && p >= end)) {
        acc += *p;
        p += step;
        step += step > 0 ? 3 : -5;
    }
    acc += s[(unsigned)(step & 2047)];
    // by float: 0.1 that is not a tenth, and a bound that saturates
    unsigned m = 0;
    for (float x = f - 1.5f; x != 1.0f && m < 14; x += 0.1f) acc += s[(m++ * l + (unsigned)(x * 64.0f)) & 2047];
    for (float x = f * (float)(l + 1); x < 3e10f; x *= x + 1.0f) {
        acc += s[(__float2uint_rz(x) >> 4 & 1023) + ((unsigned)__float2int_rz(-x) & 1023)];
        acc += s[(unsigned)(unsigned char)__float2uint_rz(x) * 4 + (__float2uint_rz(-x) & 3)];
    }
    out[(blockIdx.x * T + t) & 1023] = acc;
}
