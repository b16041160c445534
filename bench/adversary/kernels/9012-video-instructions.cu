// launch 1 32 n=77
// launch 1 64 n=305419896
// SIMD and scalar video instructions of PTX, dot products of bytes and halves, whose results are addresses.
#define ASM3(name, ptx) __device__ __forceinline__ unsigned name(unsigned a, unsigned b, unsigned c) { unsigned r; asm volatile(ptx : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
ASM3(v0, "vadd2.s32.u32.s32.sat %0, %1.h10, %2.h01, %3;")
ASM3(v1, "vadd4.u32.u32.u32.add %0, %1.b3210, %2.b0123, %3;")
ASM3(v2, "vavrg4.s32.s32.s32 %0.b20, %1, %2, %3;")
ASM3(v3, "vmin2.s32.s32.u32 %0.h0, %1.h11, %2.h10, %3;")
ASM3(v4, "vset4.u32.u32.le %0.b31, %1, %2, %3;")
ASM3(v5, "vabsdiff2.u32.u32.u32.add %0, %1, %2.h32, %3;")
ASM3(v6, "vabsdiff.u32.s32.u32.sat.add %0, %1.b3, %2.h0, %3;")
ASM3(v7, "vmad.s32.s32.u32.shr7 %0, %1.h1, %2.b0, %3;")
ASM3(v8, "vmax4.u32.u32.s32 %0.b1, %1.b3333, %2.b7654, %3;")
ASM3(v9, "vshr.u32.s32.u32.clamp.add %0, %1, %2, %3;")
ASM3(va, "vset.s32.s32.ge.add %0, %1.b2, %2.h1, %3;")
ASM3(vb, "vsub4.s32.s32.u32.sat %0.b3, %1, %2, %3;")
ASM3(d0, "dp4a.s32.u32 %0, %1, %2, %3;")
ASM3(d1, "dp2a.lo.s32.s32 %0, %1, %2, %3;")
ASM3(d2, "dp2a.hi.u32.s32 %0, %1, %2, %3;")
ASM3(sa, "sad.s32 %0, %1, %2, %3;")
ASM3(mh, "mad24.hi.s32 %0, %1, %2, %3;")
ASM3(ms, "mad.hi.sat.s32 %0, %1, %2, %3;")
extern "C" __global__ void k9012(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned a = t * 2654435761u ^ n, b = (t + 3) * 40503u * (n | 1), c = t * 0x01030507u;
#define USE(x) { unsigned v = x; acc += s[(v ^ v >> 11) & 1023]; }
    USE(v0(a, b, c)) USE(v1(a, b, c)) USE(v2(a, b, c)) USE(v3(a, b, c)) USE(v4(a, b, c)) USE(v5(a, b, c))
    USE(v6(a, b, c)) USE(v7(a, b, c)) USE(v8(a, b, c)) USE(v9(a, b, c)) USE(va(a, b, c)) USE(vb(a, b, c))
    USE(d0(a, b, c)) USE(d1(a, b, c)) USE(d2(a, b, c)) USE(sa(a, b, c)) USE(mh(a, b, c)) USE(ms(a, b, c))
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
