// launch 1 32 n=3
// launch 1 64 n=2147483651
// 64-bit shifts by 64 and more, wide and high products of both signs, carries across four words.
extern "C" __global__ void k9014(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned long long w = (unsigned long long)t * 0x9E3779B97F4A7C15ull + n, r; long long q = (long long)w; unsigned x, y, z, k = t * 3;
#define USE(v) { unsigned u = (unsigned)(v) ^ (unsigned)((unsigned long long)(v) >> 32); acc += s[(u ^ u >> 13) & 1023]; }
#define ASM2(ptx, a, b) asm volatile(ptx : "=l"(r) : "l"(a), "r"(b)); USE(r)
    ASM2("shl.b64 %0, %1, %2;", w, k) ASM2("shr.u64 %0, %1, %2;", w, k) ASM2("shr.s64 %0, %1, %2;", q, k)
    ASM2("shl.b64 %0, %1, %2;", w, t + 40) ASM2("shr.s64 %0, %1, %2;", q, 0u - t) ASM2("shr.u64 %0, %1, %2;", w, 64u + (t & 1))
    asm volatile("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(t - 16), "r"(n)); USE(r)
    asm volatile("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(t - 16), "r"(n)); USE(r)
    asm volatile("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(t - 9), "r"(7 - k), "l"(w)); USE(r)
    asm volatile("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(w), "l"(w * 3)); USE(r)
    asm volatile("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(q), "l"(q * 5)); USE(r)
    asm volatile("mad.hi.s64 %0, %1, %2, %3;" : "=l"(r) : "l"(q), "l"(w), "l"(w)); USE(r)
    asm volatile("{ .reg .u32 a, b, c; add.cc.u32 a, %3, %4; addc.cc.u32 b, %4, %3; addc.cc.u32 c, %3, 0xFFFFFFF0; addc.u32 %0, c, 0;"
                 " sub.cc.u32 %1, a, b; subc.cc.u32 a, c, b; subc.u32 %2, 0, 0; }" : "=r"(x), "=r"(y), "=r"(z) : "r"(t * 0x10000001u), "r"(~t)); USE(x) USE(y) USE(z)
    asm volatile("{ .reg .u32 a; mad.lo.cc.u32 a, %2, %3, %2; madc.hi.cc.u32 %0, %2, %3, a; madc.lo.u32 %1, %3, %3, 0; }" : "=r"(x), "=r"(y) : "r"(t * 77777777u), "r"(n + t)); USE(x) USE(y)
#ifndef __CUDACC_RTC__
    unsigned __int128 big = (unsigned __int128)w * w + ((unsigned __int128)w << 37); USE((unsigned long long)(big >> 61)) USE((unsigned long long)(big >> (t + 33)))
#endif
    USE(__mul24(t * 70001, n)) USE(__umul64hi(w, w)) USE(w / (t + 1)) USE(q % ((long long)t - 40)) USE(__clzll(w >> k % 64)) USE(w * (q >> 63))
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
