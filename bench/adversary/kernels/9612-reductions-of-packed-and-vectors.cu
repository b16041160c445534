// launch 1 64 n=1
// launch 1 30 n=2
// launch 2 32 n=3
// red and atom of f16x2, bf16x2, and vectors of two, four and eight elements: aligned, strided, on few addresses.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k9612(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t; char* o = (char*)out; unsigned acc = 0;
    atomicAdd((__half2*)out + g, __float2half2_rn(f)); atomicAdd((__nv_bfloat162*)out + 200 + g * 3, __float2bfloat162_rn(f));
    atomicAdd((__half*)out + 1200 + g, __float2half(f)); atomicAdd((float2*)(o + 4096) + g * 2, make_float2(f, f)); atomicAdd((float4*)(o + 8192) + (g ^ 1), make_float4(f, f, f, f));
    float4 v = atomicAdd((float4*)(o + 12288) + g * 2, make_float4(f, 1, 2, 3)); float2 w = atomicAdd((float2*)(o + 16384) + t / 3, make_float2(f, 1));
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(o + 20480 + g * 4), "r"(acc));
    asm volatile("red.global.v2.f16x2.add.noftz [%0], {%1, %1};" :: "l"(o + 24576 + g * 8), "r"(acc));
    asm volatile("red.global.v4.f16x2.add.noftz [%0], {%1, %1, %1, %1};" :: "l"(o + 28672 + g * 48), "r"(acc));
    asm volatile("red.global.v4.bf16x2.add.noftz [%0], {%1, %1, %1, %1};" :: "l"(o + 36864 + (t & 5) * 16), "r"(acc));
    asm volatile("{ .reg .b16 h; mov.b16 h, 0; red.global.v2.f16.add.noftz [%0], {h, h}; red.global.v8.f16.add.noftz [%1], {h, h, h, h, h, h, h, h}; red.global.v4.bf16.max.noftz [%2], {h, h, h, h}; }" :: "l"(o + 40960 + g * 12), "l"(o + 45056 + g * 16), "l"(o + 49152 + t * n * 8));
    out[14000 + g] = acc + (unsigned)v.x + (unsigned)w.y;
}
