// launch 1 32 n=100
// launch 1 55 n=40000
// launch 2 64 n=0
// Saturating conversions between all widths of integers and from floats out of range, NaN and infinities; the saturated bytes lie in shared memory.
#define CVT(name, from, type, ptx, c) __device__ __forceinline__ unsigned name(type v) { unsigned r; asm volatile(ptx : "=r"(r) : c(v)); return r; }
CVT(u8s, s32, int, "cvt.sat.u8.s32 %0, %1;", "r")
CVT(s8u, u32, unsigned, "{ .reg .s32 x; cvt.sat.s8.u32 x, %1; mov.b32 %0, x; }", "r")
CVT(u16s, s32, int, "{ .reg .u16 h; cvt.sat.u16.s32 h, %1; cvt.u32.u16 %0, h; }", "r")
CVT(s16l, s64, long long, "{ .reg .s16 h; cvt.sat.s16.s64 h, %1; cvt.s32.s16 %0, h; }", "l")
CVT(u32l, s64, long long, "cvt.sat.u32.s64 %0, %1;", "l")
CVT(s32u, u64, unsigned long long, "cvt.sat.s32.u64 %0, %1;", "l")
CVT(u8f, f32, float, "cvt.rni.u8.f32 %0, %1;", "f")
CVT(s8f, f32, float, "{ .reg .s32 x; cvt.rzi.s8.f32 x, %1; mov.b32 %0, x; }", "f")
CVT(u16f, f32, float, "{ .reg .u16 h; cvt.rpi.u16.f32 h, %1; cvt.u32.u16 %0, h; }", "f")
extern "C" __global__ void k9327(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char bytes[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    int wide = (int)(t * 31) - (int)(n % 997);
    bytes[t] = (unsigned char)u8s(wide);
    __syncthreads();
    acc += s[bytes[(t + 9) % blockDim.x] * 4];
    acc += s[(s8u(t * 9 + n) * 8) & 1023];
    acc += s[u16s(wide * 211) >> 6];
    acc += s[(s16l((long long)wide * 0x10001) >> 4) & 1023];
    acc += s[u32l((long long)wide << 24) >> 22];
    acc += s[s32u((unsigned long long)t << 28 | n) >> 21];
    float x = ((float)t - 16.0f) * 20.3f * f;
    if (t % 11 == 3) x = __int_as_float(0x7FC00000); else if (t % 11 == 5) x = __int_as_float(0xFF800000);
    acc += s[(u8f(x) * 2 + 1) & 1023];
    acc += s[(256 + (int)s8f(x)) & 1023];
    acc += s[u16f(x * 300.0f) >> 6];
    unsigned u = (unsigned)x; int i = (int)(x * 1e8f); unsigned long long l = __float2ull_rd(x * 1e18f); long long d = __double2ll_rn((double)x * 1e17);
    acc += s[(u * 16) & 1023];
    if (i == 0x7FFFFFFF) acc += s[(t * 8) & 1023]; else if (i == (int)0x80000000) s[(t * 16) & 1023] = acc;
    acc += s[(unsigned)(l >> 54)];
    acc += s[(unsigned)(d >> 54) & 1023];
    acc += s[(unsigned)(__saturatef(x * 0.01f) * 1023.0f)];
    s[((unsigned)__double2int_rz((double)x * 1e30) >> 22) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
