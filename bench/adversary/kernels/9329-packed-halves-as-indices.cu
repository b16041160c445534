// launch 1 32 n=3
// launch 1 60 n=65
// launch 2 64 n=1000
// Arithmetic of packed halves: sums that lose bits above 2048, fused products, comparisons to masks, minima with NaN, conversions back to integers.
#include <cuda_fp16.h>
extern "C" __global__ void k9329(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __half2 h[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    h[t] = __halves2half2(__uint2half_rn(t * 67 + n), __float2half_rd((float)t * f - 20.0f));
    __syncthreads();
    __half2 a = h[(t * 5 + 3) % blockDim.x], b = h[t];
    __half2 sum = __hadd2(a, b), prod = __hfma2(a, b, __float2half2_rn(0.5f));
    acc += s[(unsigned)__half2uint_rz(__low2half(sum)) & 1023];
    acc += s[((unsigned)__half2int_rn(__high2half(sum)) * 4) & 1023];
    unsigned bits = *(unsigned*)&prod;
    acc += s[(bits ^ bits >> 13) & 1023];
    unsigned mask = __hgt2_mask(a, b);
    acc += s[(mask & (t << 16 | t * 3) & 0x00FF00FFu) % 1021];
    if (__hbgt2(a, b)) acc += s[(t * 8) & 1023]; else if (__hblt2(a, b)) s[(t * 16 + 1) & 1023] = acc;
    __half root = hsqrt(__habs(__high2half(b)));
    acc += s[(unsigned)__half2ushort_rd(__hmul(root, __float2half(64.0f))) & 1023];
    __half2 bad = __h2div(a, __hsub2(b, b));
    if (__hisnan(__low2half(bad)) || __hisinf(__high2half(bad)) > 0) acc += s[(t * 2 + 5) & 1023];
    __half2 low = __hmin2(bad, a), nan = __hmax2_nan(bad, b);
    acc += s[(__half_as_ushort(__high2half(low)) >> 3) & 1023];
    acc += s[(__half_as_ushort(__low2half(nan)) >> 2) & 1023];
    unsigned short word = __half_as_ushort(__low2half(a));
    int e = (word >> 10 & 31) - 15;
    for (int i = e; i > 5; i--) acc += s[((word & 1023) >> (e - i)) & 1023];
    __half2 fl = h2floor(__hmul2(b, __float2half2_rn(0.37f)));
    s[(unsigned)((int)__low2float(fl) * 3 + (int)__high2float(fl)) & 1023] = acc;
    __half2 set = __hle2(__lowhigh2highlow(a), b);
    acc += s[(unsigned)(__low2float(set) * 32.0f + __high2float(set) * 7.0f) + (t & 31) * 16 & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
