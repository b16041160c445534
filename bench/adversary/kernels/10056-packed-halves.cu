// launch 1 48 n=65530
// launch 1 13x7 n=5
// launch 3 80 n=32700
// two 16-bit indices in one word: SIMD add/sub/max with wrap and saturation, dp4a, fp16 index arithmetic that loses bits above 2048, bfe/bfi with zero length and positions past the word, short overflow
#include <cuda_fp16.h>
extern "C" __global__ void k10056(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned short tab[512];
    __shared__ unsigned word[256];
    __shared__ ushort4 quad[128];
    const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y;
    const unsigned nt = blockDim.x * blockDim.y;
    for (unsigned i = tid; i < 512; i += nt) tab[i] = (unsigned short)(i * 9);
    for (unsigned i = tid; i < 256; i += nt) word[i] = i * 257;
    for (unsigned i = tid; i < 128; i += nt) quad[i] = make_ushort4(i, i, i + 1, i + 2);
    __syncthreads();
    unsigned acc = 0;
    unsigned p = (tid * 3) | ((0u - tid * 5) << 16);           // low counts up, high counts down from 65536
    const unsigned step = 0xFFF90003u + (n & 3);
    short s = (short)(32700 + tid);                            // overflows to negative in some lanes
    for (int i = 0; i < 10; ++i) {
        p = __vadd2(p, step);
        acc += tab[p & 511];
        acc += tab[(p >> 16) & 511];
        unsigned clamp = __vmins2(__vmaxs2(p, 0xFFC0FFE0u), 0x003F001Fu);   // high -64..63, low -32..31
        word[((clamp >> 16) + 64u) & 127u] = acc;
        acc += word[(int)(short)(clamp & 0xFFFF) + 128];       // 96..159
        unsigned sat = __vaddss2(p, 0x7F007F00u);              // signed saturation in each half
        acc ^= quad[(sat >> 9) & 127].y;
        unsigned dif = __vabsdiffu4(p, tid * 0x01030507u);
        acc += quad[__dp4a((int)dif, (int)0x01FF01FF, i) & 127].w;   // signed bytes: +1 -1 +1 -1
        int field;
        asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"((int)p), "r"(tid & 39), "r"(i));   // length 0 at i=0; pos up to 39
        tab[field & 511] = (unsigned short)i;
        unsigned ufield, ins;
        asm("bfe.u32 %0, %1, %2, %3;" : "=r"(ufield) : "r"(p), "r"(i * 5), "r"(tid % 12));
        acc += word[ufield & 255];
        asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(ins) : "r"(tid), "r"(p & 127u), "r"(i), "r"(tid & 7));
        acc += word[ins & 255];
        s = (short)(s + 11);
        if (s < 0) quad[(s >> 2) & 127] = make_ushort4((unsigned short)s, 1, 2, 3);
        else acc += tab[(s * s >> 7) & 511];
    }
    // indices in fp16: past 2048 the odd ones vanish
    __half2 h = __halves2half2(__ushort2half_rn((unsigned short)(2000 + tid)), __short2half_rn((short)(tid - 40)));
    for (int i = 0; i < 4; ++i) {
        h = __hfma2(h, __halves2half2(__float2half(1.0f), __float2half(1.5f)), __halves2half2(__float2half(f * 10.f), __float2half(-0.25f)));
        acc += tab[__half2int_rd(__low2half(h)) & 511];
        acc += tab[__half2int_rn(__high2half(h)) & 511];
        word[__half_as_ushort(__high2half(h)) >> 8] = acc;     // 0..255
    }
    out[(blockIdx.x * nt + tid) & 4095] = acc + src[tid & 4095];
}
