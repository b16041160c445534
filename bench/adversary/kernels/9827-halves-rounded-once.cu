// launch 1 32 n=1
// launch 2 7x3x5 n=600
// launch 1 40 n=70000
// launch 1 8x16 n=33
// Half and bfloat16 arithmetic: fma rounded once (through float it is rounded twice), overflow to infinity then to
// a saturated integer, denormals kept, NaN in min/max/compares (ordered and not), minus zero, .sat, rounding of
// odd ties.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define BANK0(v) acc += s[((unsigned)(v) & 31) * 32]
extern "C" __global__ void k9827(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned s[1024];
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 5;
  for (unsigned k = t; k < 1024; k += size) s[k] = k + 3;
  __syncthreads();
  __half x = __float2half_rn((float)t * 0.37f), y = __float2half_rz(f),
      tiny = __ushort_as_half((unsigned short)(t & 31));
  __half sign = __ushort_as_half((unsigned short)((t & 1) << 15 | (t & 31)));
  // 1.5 * 683/1024 is 1 + 2^-11, a tie: the tiny third operand decides, if it is not lost before.
  BANK0(__half_as_ushort(__hfma(y, __ushort_as_half(0x3956), sign)) + (t & 14));
  BANK0(__half_as_ushort(__hadd(__ushort_as_half((unsigned short)(0x6400 + t)), __float2half_rn(0.5f))));
  BANK0(__half_as_ushort(__hmul(tiny, y)));
  BANK0(__half_as_ushort(__hmul(tiny, __ushort_as_half(0x3800))));
  BANK0(__half2int_rd(__hsub(x, __float2half_rn(5.25f))));
  BANK0(__half2int_ru(__hneg(x)));
  BANK0(__half2short_rn(__hmul(x, __float2half_rn(9000.0f))) >> 10);
  BANK0(__half2ushort_rz(__hsub(__float2half_rn(20.0f), x)));
  BANK0(__half2uint_rn(__hadd(x, __float2half_rn(0.13f))));
  BANK0(__half2uint_rz(__hmul(x, __float2half_rn(6000.0f))) >> 11);
  __half lane = t % 5 == 2 ? __ushort_as_half(0xfe00) : t % 5 == 4 ? __ushort_as_half(0x8000) : x;
  BANK0(__half2int_rz(__hmin(lane, __float2half_rn(7.0f))));
  BANK0((__half_as_ushort(__hmax(lane, __ushort_as_half(0))) >> 5) ^ (t & 3));
  BANK0(__half_as_ushort(__hmin_nan(lane, y)) >> 7);
  __half2 p = __halves2half2(lane, x), q = __halves2half2(y, lane);
  unsigned m = __hgtu2_mask(p, q), o = __hle2_mask(p, q);
  BANK0((m >> 14) + (o & 12) + (t & 16));
  __half2 c = __hne2(p, q), u = __hfma2_sat(p, __float2half2_rn(0.11f), __half2half2(y));
  BANK0(__half2int_rn(__hadd(__low2half(c), __high2half(c))) * 9 + (t & 8));
  BANK0((*(unsigned*)&u >> 5) + (*(unsigned*)&u >> 24));
  BANK0(__half2int_rz(hrint(__hsub(__float2half_rn((float)t * 0.5f), __float2half_rn(4.0f)))));
  unsigned short h;
  asm volatile("cvt.rn.f16.s16 %0, %1;" : "=h"(h) : "h"((short)(2047 + t * 3)));
  BANK0(h);
  asm volatile("cvt.rpi.f16.f16 %0, %1;" : "=h"(h) : "h"(__half_as_ushort(__hmul(x, __float2half_rn(-0.3f)))));
  BANK0(h >> 7);
  unsigned r;
  asm volatile("{ .reg .pred p, q; setp.ltu.f16x2 p|q, %1, %2; selp.u32 %0, 3, 0, p; @q add.u32 %0, %0, 17; }"
               : "=&r"(r) : "r"(*(unsigned*)&p), "r"(*(unsigned*)&q));
  BANK0(r + (t & 4));
  __nv_bfloat16 v = __float2bfloat16_rn((float)(n % 1000 + t) * 1.01f), w = __float2bfloat16_rz(-0.5f);
  BANK0(__bfloat162int_rd(__hmul(v, w)));
  BANK0(__bfloat16_as_ushort(__hfma(v, v, __float2bfloat16_rd((float)t))));
  BANK0(__bfloat16_as_ushort(__float2bfloat16_ru(0.1f * (float)(int)(t - 9))));
  BANK0(__half2uint_rz(__hadd(__uint2half_rn(src[g & 1023]), y)));
  out[g & 1023] = acc;
}
