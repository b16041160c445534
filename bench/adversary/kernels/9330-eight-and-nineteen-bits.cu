// launch 1 32 n=5
// launch 1 49 n=77
// launch 2 64 n=900
// Conversions to bfloat16, both kinds of 8-bit floats and tf32, and back through halves; codes are stored as bytes and their decoded values are indices.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
extern "C" __global__ void k9330(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char e4[64], e5[64];
    __shared__ __nv_bfloat16 b[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    float v = ((float)t - 9.0f) * f * (float)(n % 13 + 1);
    e4[t] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
    e5[t] = __nv_cvt_float_to_fp8(v * 300.0f, __NV_NOSAT, __NV_E5M2);
    b[t] = __float2bfloat16_rn(v * 1.01f);
    __syncthreads();
    unsigned q = (t * 3 + 1) % blockDim.x;
    acc += s[e4[q] * 4 & 1023];
    acc += s[(e5[q] * 3 + 1) & 1023];
    __half_raw hr = __nv_cvt_fp8_to_halfraw(e4[q], __NV_E4M3);
    float back = __half2float(__half(hr));
    acc += s[(unsigned)((int)back + 512) & 1023];
    acc += s[(hr.x >> 5) & 1023];
    __half2_raw two = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(e5[q] | e5[t] << 8), __NV_E5M2);
    if ((two.x & 0x7C00) == 0x7C00) s[(two.y >> 4) & 1023] = acc; else acc += s[(two.x >> 6 ^ two.y >> 8) & 1023];
    acc += s[(__bfloat16_as_ushort(b[q]) >> 1) & 1023];
    acc += s[(unsigned)__bfloat162int_rz(b[q]) * 2 & 1023];
    if (__hlt(b[q], b[t])) acc += s[(unsigned)__bfloat162ushort_rn(__habs(__hsub(b[t], b[q]))) * 8 & 1023];
    unsigned tf; asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf) : "f"(v * 1.0003f));
    acc += s[(tf >> 13) & 1023];
    unsigned short pair; asm volatile("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(v), "f"(-v));
    acc += s[(pair ^ pair >> 7) & 1023];
    unsigned bf; asm volatile("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(bf) : "f"(v), "f"(v * f));
    for (unsigned i = bf >> 20 & 7; i < 8; i += 3) acc += s[(bf >> i) & 1023];
    __nv_bfloat162 m = __hfma2(__halves2bfloat162(b[q], b[t]), __float2bfloat162_rn(1.5f), __float2bfloat162_rn(-3.0f));
    s[(*(unsigned*)&m >> 6) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
