// launch 1 64 n=3
// launch 2 80 n=600
// launch 1 32x3 n=77
// Indices from floats: counters that never reach a round number, four rounding modes, ties to even above 2^24, NaN, infinity and negatives converted, fma against mul and add, half2, bfloat16 and double.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k10009(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1056];
    const unsigned t = threadIdx.x + threadIdx.y * blockDim.x, threads = blockDim.x * blockDim.y, lane = t & 31;
    for (unsigned i = t; i < 1056; i += threads) s[i] = i * 13;
    __syncthreads();
    const unsigned v = src[(t * 3 + n) & 4095], u = src[n & 4095] & 7;
    const float x = (float)(int)(v - 500), y = (float)lane;
    unsigned acc = 0, k = 0;
    for (float c = 0.0f; c < 2.0f * f; c += 0.3f) acc += s[(__float2uint_rz(c * 10.0f) * lane) & 1023], k++;
    acc += s[k * 32 + (lane & 1)];
    float tenth = 0.0f;
    for (unsigned i = 0; i < 10; i++) tenth += 0.1f;
    if (tenth == 1.0f) acc += s[lane * 32]; else acc += s[lane * 16];
    for (float c = y; c < 40.0f + (float)u; c = c * f + 1.0f) acc ^= s[(unsigned)c * 32 & 1023];
    acc += s[__float2int_rn(x * 0.5f) * 32 & 1023];
    acc += s[__float2int_rd(x * 0.25f) * 32 & 1023];
    acc += s[__float2int_ru(x * 0.25f) * 32 & 1023];
    acc += s[__float2int_rz(x * 0.125f) * 32 & 1023];
    acc += s[__float2int_rn(y + 0.5f) * 32];
    acc += s[__float2int_rn(y * f * 0.3333333f) * 32];
    acc += s[((unsigned)(16777216.0f + y) & 31) * 32];
    acc += s[((unsigned)(33554432.0f + y * f) & 63) * 16];
    acc += s[(__float2int_rd(__fadd_rd(8388608.0f, y * 0.25f)) & 31) * 32];

    const float bad = v & 1 ? __int_as_float(0x7fc00000) : v & 2 ? __int_as_float(0x7f800000) : v & 4 ? -x * x : 3e9f;
    acc += s[__float2uint_rz(bad) >> 22];
    acc += s[(__float2int_rz(bad) >> 22) + 512];
    if (!(bad < 5.0f)) acc += s[lane * 32];
    if (bad >= 5.0f) acc += s[lane * 32 + 1];
    if (bad != bad) acc += s[lane * 32 + 2];
    acc += s[__float2uint_rn(fminf(bad, 31.0f)) * 32];
    acc += s[__float2uint_rn(fminf(fmaxf(bad, y), 32.0f)) * 32];
    acc += s[__float2uint_rn(__saturatef(bad * 1e-3f) * 32.0f) * 32];
    const float nz = -0.0f * y;
    acc += s[__float_as_uint(nz) >> 26 << 5 & 1023];
    acc += s[__float_as_uint(__int_as_float((int)lane + 1) * 0.5f) * 32];
    acc += s[__float_as_uint(y) >> 19 & 1023];
    acc += s[(unsigned)__float2int_rn(sqrtf((float)(v & 255)) * 2.0f) * 32];
    acc += s[(unsigned)__float2int_rz((y * 3.0f + 1.0f) / 3.0f) * 32];
    acc += s[__float2uint_rn(fmaf(y, y, -__fmul_rn(y + 0.1f, y + 0.1f)) * -4.0f) & 1023];
    acc += s[__float2int_rn(1e9f * __fsub_rn(__fmul_rn(0.1f, y), 0.1f * y + 0.0f)) & 31];
    acc += s[(__float2int_rn(fmaf(0.1f, y, -__fmul_rn(0.1f, y)) * 1e9f) & 31) * 32];

    const __half2 h = __floats2half2_rn(y * 0.5f, 2048.0f + y), g = __hfma2(h, __float2half2_rn(f), __floats2half2_rn(0.25f, 1.0f));
    acc += s[__half2int_rn(__low2half(g)) * 32 & 1023];
    acc += s[(__half2int_rz(__high2half(h)) & 31) * 32];
    acc += s[__half_as_ushort(__high2half(g)) & 1023];
    const __half2 big = __hmul2(h, __float2half2_rn((float)(v & 63)));
    if (__hisinf(__high2half(big))) acc += s[lane * 32 + 3];
    if (__hbgt2(big, h)) acc += s[lane * 32 + 4];
    acc += s[__half_as_ushort(__hmax(__low2half(big), __high2half(h))) >> 2 & 1023];
    const __nv_bfloat16 b = __float2bfloat16_rn(256.0f + y * f);
    acc += s[((unsigned)__bfloat162float(b) & 31) * 32];
    acc += s[(__bfloat16_as_ushort(__hadd(b, __float2bfloat16_rn(x))) & 31) * 32];

    const double d = 9007199254740992.0 + (double)lane, e = (double)x / 3.0;
    acc += s[((unsigned)(unsigned long long)d & 31) * 32];
    acc += s[__double2int_rn(e) * 32 & 1023];
    acc += s[__double2int_rd(e + 0.5) * 32 & 1023];
    acc += s[(unsigned)__double2hiint(e) >> 16 & 1023];
    acc += s[((unsigned)__double2loint((double)lane * 0.1) & 31) * 32];
    acc += s[(unsigned)__double2uint_rz(e) >> 22];
    for (double c = 1.0; c < 1000.0 + x; c *= 1.5 + (double)u) acc ^= s[((unsigned)c * lane) & 1023];
    out[(blockIdx.x * threads + t) & 4095] = acc;
}
