// launch 1 64 n=2
// launch 1 34 n=7
// launch 3 20 n=1
// float3, uchar3, double3, half, half2, bfloat16, char4, short2, unions; complex numbers; bit-packed flags.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
union U { unsigned w; unsigned short h[2]; unsigned char b[4]; float f; };
extern "C" __global__ void k9635(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; char* o = (char*)out;
    float3 a = ((const float3*)src)[g]; uchar3 b = ((const uchar3*)src)[g * 2]; double3 c = ((const double3*)src)[g]; __half h = ((const __half*)src)[g * n]; __half2 k = ((const __half2*)src)[g ^ 9];
    __nv_bfloat16 m = ((const __nv_bfloat16*)src)[g + n]; char4 q = ((const char4*)src)[g * 5]; int3 z = ((const int3*)src)[63 - t]; ushort3 s = ((const ushort3*)src)[g * 3];
    acc += (unsigned)(a.x + a.z) + b.x + b.z + (unsigned)c.y + (unsigned)__half2float(h) + (unsigned)__low2float(k) + (unsigned)__bfloat162float(m) + q.w + z.y + s.x * s.z;
    U u = ((const U*)src)[g * 3]; acc += u.h[1] + u.b[0]; acc += ((const U*)src)[g].h[t & 1] + ((const U*)src)[g * 2].b[t & 3] + (((const unsigned*)src)[g >> 5] >> (g & 31) & 1);
    ((float3*)o)[g] = a; ((uchar3*)(o + 4096))[g * 2] = b; ((double3*)(o + 8192))[g] = c; ((__half*)(o + 16384))[g * 3] = h; ((__half2*)(o + 20480))[g ^ 9] = k; ((char4*)(o + 24576))[g * 5] = q;
    ((float2*)(o + 32768))[g * 3] = make_float2(a.x, f); ((U*)(o + 40960))[g * 2].b[t & 3] = 7; out[15000 + g] = acc; atomicOr(&out[14000 + (g >> 5)], 1u << (g & 31));
}
