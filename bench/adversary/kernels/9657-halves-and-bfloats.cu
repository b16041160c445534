// launch 1 64 n=9
// Arithmetic of packed halves, bfloats and fp8 that decides an index.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
extern "C" __global__ void k9657(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; __syncthreads();
    __half2 h = __floats2half2_rn(t * 0.37f, n * 1.1f), k = __hfma2(h, h, __float2half2_rn(f)); unsigned b; memcpy(&b, &k, 4); acc += s[b & 255] + s[b >> 20 & 255];
    __nv_bfloat162 x = __floats2bfloat162_rn(t * 1.3f, -(float)t), y = __hfma2(x, x, x); memcpy(&b, &y, 4); acc += s[b & 127] + s[b >> 16 & 511]; y = __hmax2(x, __hneg2(x)); memcpy(&b, &y, 4); acc += s[b >> 21 & 255];
    __nv_fp8_e4m3 q(t * 0.8f); acc += s[q.__x]; __nv_fp8_e5m2 r(-(float)t * f); acc += s[r.__x]; acc += s[(unsigned)__half2float(__half(q)) & 255]; acc += s[__half2uint_rz(__hmul(__float2half(t * f), __float2half(3.1f))) & 511];
    acc += s[__hgt2_mask(h, __float2half2_rn(4.f)) & (t * 4)]; acc += s[(unsigned)__hlt(__low2half(h), __high2half(h)) * t]; out[t] = acc;
}
