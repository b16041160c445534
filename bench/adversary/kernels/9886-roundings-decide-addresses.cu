// launch 1 96 n=5
// launch 2 11x3x4 n=1023
// launch 2 512 n=16777217
// launch 3 45 n=4294967295
// Conversions between floats of 8 to 64 bits and integers in all roundings, with saturation, ties, values that are not numbers,
// denormals kept and flushed, fused against unfused, and approximations whose last bit decides a truncated index.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

extern "C" __global__ void k9886(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    __shared__ float reals[512];
    __shared__ double doubles[128];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 1024; i += all) s[i] = i * 9 + 1;
    for (unsigned i = t; i < 512; i += all) reals[i] = (static_cast<int>(i) - static_cast<int>(n % 61) * 4) * 0.25f;
    for (unsigned i = t; i < 128; i += all) doubles[i] = (i * 0.5 - 17.0) * 67108864.5;
    __syncthreads();
    unsigned acc = 0;

    // ties and signs in four roundings
    const float x = reals[(t * 3) & 511];
    acc = mix(acc, s[(__float2int_rn(x) * 4 + __float2int_rz(x)) & 1023]);
    acc = mix(acc, s[(__float2int_ru(-x) * 16u + __float2uint_rd(x) * 2) & 1023]);

    // saturation, and what is not a number, by width of the target
    const float nothing = __int_as_float(0x7fc00000 + static_cast<int>(t));
    const float big = (lane & 3) == 0 ? nothing : (lane & 3) == 1 ? -3e19f : (lane & 3) == 2 ? 3e19f : x;
    int to8, to16;
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(to8) : "f"(x * 3.0f));
    asm("cvt.rni.sat.u16.f32 %0, %1;" : "=r"(to16) : "f"(x * 600.0f));
    acc = mix(acc, s[((to8 & 255) * 4 + ((to16 & 65535) >> 6)) & 1023]);
    acc = mix(acc, s[((static_cast<unsigned>(__float2int_rz(big)) >> 24) + (static_cast<unsigned>(__float2ll_rz(big) >> 56)) * 5 + lane) & 1023]);
    acc = mix(acc, s[((__double2uint_rn(big) >> 23) + static_cast<unsigned>(__float2ull_ru(big) >> 55) * lane) & 1023]);

    // integers that a float cannot hold
    const unsigned large = n + t * 0x00800001u;
    const float lr = __uint2float_rn(large), lz = __uint2float_rz(large), lu = __uint2float_ru(large);
    const unsigned lost = __float2uint_rz(lr) - large + (__float2uint_rz(lu) - __float2uint_rz(lz)) * 2;
    acc = mix(acc, s[(lost + (__float_as_uint(lr) ^ __float_as_uint(__int2float_rd(static_cast<int>(large))))) & 1023]);

    // half, bf16 and fp8
    const __half h = __float2half_ru(x * 0.00000005f), g = __float2half_rn(x * 1100.0f);
    const __half fused = __hfma(h, __float2half(2048.0f), __ushort_as_half(static_cast<unsigned short>(t)));
    acc = mix(acc, s[(__half_as_ushort(h) + (__half2int_rn(g) >> 4) + __half_as_ushort(fused) * 4u) & 1023]);
    const __nv_bfloat16 b = __float2bfloat16_rn(257.0f + lane * 0.5f);
    acc = mix(acc, s[(__bfloat162int_rz(b) * 8u + __bfloat16_as_ushort(__float2bfloat16_rz(lr))) & 1023]);
    const __nv_fp8_storage_t e4 = __nv_cvt_float_to_fp8(x * 7.0f, __NV_SATFINITE, __NV_E4M3);
    const __nv_fp8_storage_t e5 = __nv_cvt_float_to_fp8(big, __NV_NOSAT, __NV_E5M2);
    const __half back(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(t + n), __NV_E4M3));
    acc = mix(acc, s[(e4 * 4u + e5 + (__half_as_ushort(back) >> 7)) & 1023]);

    // denormals: kept and flushed, in products and in comparisons that select
    const float tiny = __uint_as_float(t * 3 + 1);
    float kept, flushed;
    unsigned zero;
    asm("mul.f32 %0, %1, %2;" : "=f"(kept) : "f"(tiny), "f"(4.5f));
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(flushed) : "f"(tiny), "f"(4.5f));
    asm("{.reg .pred p;\n\tsetp.equ.ftz.f32 p, %1, 0f00000000;\n\tselp.u32 %0, 32, 1, p;}" : "=r"(zero) : "f"(lane & 1 ? tiny : lane & 2 ? nothing : x));
    acc = mix(acc, s[(__float_as_uint(kept) + __float_as_uint(flushed) * 5 + zero * lane) & 1023]);

    // comparisons with what is not a number; minima of signed zeros and with a number missing
    float both;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(both) : "f"(big), "f"(x));
    acc = mix(acc, s[(big < 1.0f ? lane * 32 : !(big >= 1.0f) ? lane * 16 : lane * 2) & 1023]);
    acc = mix(acc, s[((__float_as_uint(fminf(big, lane & 4 ? -0.0f : 0.0f)) >> 22) + (__float_as_uint(both) >> 21)) & 1023]);

    // fused and unfused, single and double
    const float y = 1.0f + lane * 0.00048828125f, residue = __fmaf_rn(y, y, -__fmul_rn(y, y));
    const double d = doubles[t & 127], magic = d + 6755399441055744.0, below = __fma_rd(d, d, -__dmul_ru(d, d));
    acc = mix(acc, s[((__float_as_uint(residue) >> 18) + __double2loint(magic) + __double2hiint(below)) & 1023]);
    acc = mix(acc, s[(__double2int_rz(__dsqrt_rd(t * 49.0 * t)) + __double2int_rz(__drcp_ru(1.0 / (t + 1)))) & 1023]);

    // approximations at whole numbers, then the same correctly rounded
    float root, part, power;
    const float square = static_cast<float>((lane + 1) * (lane + 1));
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(square));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(static_cast<float>(lane + 1)));
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"((lane & 15) * 0.5f));
    acc = mix(acc, s[(__float2uint_rz(root * square) * 32 + __float2uint_rz(part * (lane + 1) * 16.0f)) & 1023]);
    acc = mix(acc, s[(__float2uint_rd(power) + __float2uint_rz(__fdividef(lane * 1e38f, lane & 1 ? 1e38f : 5e36f)) * 8) & 1023]);
    acc = mix(acc, s[(__float2uint_rz(__fsqrt_rd(square) + __frcp_rz(lane + 1.0f) * (lane + 1)) * 32) & 1023]);

    // the parameter and contents of src as floats
    acc = mix(acc, s[(__float2int_rn(f * 8.0f) + lane * 4 + __float2uint_rn(__uint_as_float(src[t & 1023]))) & 1023]);
    out[(blockIdx.x * all + t) & 65535] = acc;
}
