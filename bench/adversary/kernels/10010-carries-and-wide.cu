// launch 1 64 n=8
// launch 2 96 n=511
// launch 3 40 n=3333
// Carry and borrow chains, a carry that is a guard, 64 and 128 bit products and shifts by unknown amounts past 32, negative 64-bit offsets from the end of an array, 64-bit counters that cross 2^32 with the low half as index.
typedef unsigned long long u64;
typedef unsigned __int128 u128;
extern "C" __global__ void k10010(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ u64 wide[96];
    const unsigned t = threadIdx.x, lane = t & 31;
    const unsigned v = src[(t * 5 + n) & 4095], w = src[(t + n * 7) & 4095], k = src[n & 4095];
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 21;
    wide[t] = ((u64)v << 32) | (0xfffffff0u + lane / 2);
    __syncthreads();
    unsigned acc = 0, lo, hi, c;
    asm("add.cc.u32 %0, %3, %4;\n\taddc.cc.u32 %1, %5, %6;\n\taddc.u32 %2, 0, 0;" : "=r"(lo), "=r"(hi), "=r"(c) : "r"(0xfffffff8u), "r"(lane & 15), "r"(0xfffffffeu), "r"(v & 3));
    acc += s[(hi & 31) * 32 + c];
    acc += s[(lo & 31) * 32];
    acc += s[(lo + hi + c) * 32 & 1023];
    if (c) acc += s[lane * 32];
    asm("sub.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, %4, %5;" : "=r"(lo), "=r"(hi) : "r"(lane), "r"(v & 31), "r"(lane >> 2), "r"(w & 3));
    acc += s[(hi & 31) * 32 + (lo >> 31)];
    acc += s[((int)hi < 0 ? lane * 32 : lane) & 1023];
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %5;" : "=r"(lo), "=r"(hi) : "r"(lane << 27), "r"(w & 63), "r"(0xf8000000u), "r"(v & 1));
    acc += s[(hi & 31) * 32];

    const unsigned sum = v * 0x400000 + w * 0x400000;
    if (sum < v * 0x400000) acc += s[lane * 32 + 1];
    else acc += s[(sum >> 27) * 32];
    u64 x = wide[t] + lane;
    acc += s[(unsigned)(x >> 32) * 32 & 1023];
    if ((unsigned)x < lane) acc += s[lane * 16 + 1];
    x += wide[t ^ (t + 1 < blockDim.x ? 1 : 0)];
    acc += s[((unsigned)(x >> 31) & 31) * 32];
    acc += s[(unsigned)(x >> (v & 63)) & 1023];
    acc += s[((unsigned)(x << (w & 63)) >> 22)];
    acc += s[(unsigned)((long long)(x << 22) >> (33 + (k & 15))) & 1023];
    acc += s[(unsigned)(x % 31) * 33];
    acc += s[(unsigned)(x / 0x100000001ull) & 1023];
    acc += s[(unsigned)((long long)(x - wide[0]) % 9 + 9) * 32];
    const u128 y = (u128)x * (x | (u64)lane << 40) + ((u128)v << 64);
    acc += s[(unsigned)(y >> 61) & 1023];
    acc += s[(unsigned)(y >> 64) * 32 & 1023];
    acc += s[(unsigned)(y >> (k & 127)) & 1023];
    const u128 z = ((u128)(0 - (u64)(v & 1)) << 64 | ~(u64)(w & 1)) + 1 + lane;
    acc += s[(unsigned)(z >> 60) & 1023];
    if (z >> 64 == 0) acc += s[lane * 32 + 2];
    acc += s[__umul64hi(x, ~0ull - lane) >> 32 & 1023];
    acc += s[__umulhi(v << 22, lane << 10 | 3) & 1023];
    acc += s[__mulhi((int)(v << 22), (int)(lane << 6)) & 1023];

    const unsigned* const end = s + 1023;
    acc += end[-(long long)(v & 1023)];
    acc += end[-(long long)(lane * (k & 31))];
    acc += *(const unsigned*)((const char*)s + ((u64)(v & 31) << 7 | (u64)w << 2 & 0x7c));
    acc += s[(u64)(0x100000000ull * v + lane * 32) & 0x3ff];
    acc += *(s + 512 + (long long)(int)(v - w) % 16 * 32);
    for (u64 i = 0xfffffffeull - (v & 1); i < 0x100000003ull; ++i) acc += s[(unsigned)i * lane & 1023];
    for (u64 i = lane; (i >> 33) == 0; i = i * 77777 + v) acc ^= s[(unsigned)(i >> 8) & 1023], i += 0x1000000;
    for (long long i = (long long)(w & 7) - 4; i * i < 30; i += (k & 1) + 1) acc += s[(unsigned)(i + 16) * 32];
    const u64 q = 0xffffffffull + (v & 1);
    if (q > 0xffffffffu) acc += s[lane * 32 + 3];
    if ((unsigned)q) acc += s[lane * 32 + 4];
    acc += s[(lane + (unsigned)(q >> 32)) * 31];
    acc += s[((unsigned)q + lane + 1) * 32 & 1023];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
