// launch 1 64 n=3
// launch 1 64 n=60
// Intrinsics in one instruction: __viaddmax, __vimin3, relu, packed adds and compares, averages, absolute differences, funnel.
extern "C" __global__ void k9763(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    int a = (int)t * 37 - 900, b = (int)n * 11 - 100, c = 500 - (int)l * 30; unsigned p = t * 0x01030507u, q = n * 0x10203040u;
    acc += s[__viaddmax_s32(a, b, c) & 1023] + s[__viaddmin_s32_relu(a, b, c) & 1023] + s[__vimax3_s32(a, b, c) & 1023] + s[__vimin3_u32(a, b, c) & 1023];
    acc += s[__vimax_s32_relu(a, c) & 1023] + s[__vimin3_s32_relu(a, b, c) & 1023] + s[__viaddmax_u16x2(p, q, p) & 1023] + s[__vimax3_s16x2(p, q, p ^ q) & 1023];
    acc += s[__vadd2(p, q) & 1023] + s[__vsub4(p, q) >> 22] + s[__vavgs2(p, q) & 1023] + s[__vcmpgtu4(p, q) & t * 4] + s[__vabsdiffu4(p, q) & 1023] + s[__vmaxs4(p, q) >> 24] + s[__vsadu4(p, q) & 1023];
    acc += s[__vhaddu4(p, q) & 1023] + s[__vsetges2(p, q) * l & 1023] + s[__vminu2(p, q) >> 22] + s[__vnegss4(p) & 1023] + s[__vaddss2(p, q) & 1023] + s[__vaddus4(p, q) & 1023];
    acc += s[__uhadd(t, n)] + s[__rhadd(a, b) & 1023] + s[__hadd(a, c) & 1023] + s[__usad(t, n, l)] + s[__mulhi(a << 16, b << 16) & 1023] + s[__umul24(p, q) & 1023] + s[__mul24(a, b) & 1023];
    acc += s[__funnelshift_lc(p, q, t) & 1023] + s[__byte_perm(p, q, t * 0x111) & 1023] + s[__brev(t) >> 26] + s[__clz(p) * 32 & 1023] + s[__ffs(p) * 31 & 1023] + s[__popcll((unsigned long long)p * q)];
    bool over; acc += s[__vibmax_s32(a, c, &over) & 1023]; acc += s[over ? t * 8 : t];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
