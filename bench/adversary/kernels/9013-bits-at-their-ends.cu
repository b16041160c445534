// launch 1 32 n=5
// launch 1 96 n=255
// Byte permutes of all modes, funnel shifts and shifts by 32 and more, bit fields beyond the word, all kinds of LOP3.
#define ASM3(name, ptx) __device__ __forceinline__ unsigned name(unsigned a, unsigned b, unsigned c) { unsigned r; asm volatile(ptx : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
ASM3(p0, "prmt.b32 %0, %1, %2, %3;") ASM3(p1, "prmt.b32.f4e %0, %1, %2, %3;") ASM3(p2, "prmt.b32.b4e %0, %1, %2, %3;")
ASM3(p3, "prmt.b32.rc8 %0, %1, %2, %3;") ASM3(p4, "prmt.b32.ecl %0, %1, %2, %3;") ASM3(p5, "prmt.b32.ecr %0, %1, %2, %3;")
ASM3(p6, "prmt.b32.rc16 %0, %1, %2, %3;")
ASM3(f0, "shf.l.clamp.b32 %0, %1, %2, %3;") ASM3(f1, "shf.r.clamp.b32 %0, %1, %2, %3;")
ASM3(f2, "shf.l.wrap.b32 %0, %1, %2, %3;") ASM3(f3, "shf.r.wrap.b32 %0, %1, %2, %3;")
ASM3(e0, "bfe.u32 %0, %1, %2, %3;") ASM3(e1, "bfe.s32 %0, %1, %2, %3;") ASM3(e2, "{ .reg .u32 x; and.b32 x, %3, 63; bfi.b32 %0, %1, %2, x, %3; }")
ASM3(z0, "szext.wrap.s32 %0, %1, %3;") ASM3(z1, "szext.clamp.u32 %0, %1, %3;") ASM3(z2, "bmsk.clamp.b32 %0, %2, %3;") ASM3(z3, "bmsk.wrap.b32 %0, %2, %3;")
ASM3(g0, "bfind.shiftamt.u32 %0, %1;") ASM3(g1, "bfind.s32 %0, %2;") ASM3(g2, "fns.b32 %0, %1, %3, 2;")
#define LOP(k) ASM3(l##k, "lop3.b32 %0, %1, %2, %3, " #k ";")
LOP(1) LOP(0x17) LOP(0x2d) LOP(0x69) LOP(0x7f) LOP(0x80) LOP(0x9b) LOP(0xca) LOP(0xd8) LOP(0xe8) LOP(0xfe)
extern "C" __global__ void k9013(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned a = t * 2654435761u + n, b = (t + 1) * 0x9E3779B9u, c = t * 3 + (n & 7), w = t * 0x1357u ^ 0xFEDCu;
#define USE(x) { unsigned v = x; acc += s[(v ^ v >> 10 ^ v >> 20) & 1023]; }
    USE(p0(a, b, w)) USE(p1(a, b, t)) USE(p2(a, b, t)) USE(p3(a, b, t)) USE(p4(a, b, t)) USE(p5(a, b, t)) USE(p6(a, b, t))
    USE(f0(a, b, c)) USE(f1(a, b, c)) USE(f2(a, b, c)) USE(f3(a, b, c)) USE(f0(a, b, c - 9)) USE(f1(a, b, 32)) USE(f3(a, b, 64))
    USE(e0(a, c, t)) USE(e1(a, c, t)) USE(e1(a, c * 5, t * 9)) USE(e2(a, b, c)) USE(e2(a, b, c * 7))
    USE(z0(a, b, c)) USE(z1(a, b, c)) USE(z2(a, t, c)) USE(z3(a, t * 3, c)) USE(g0(a >> (t & 31), b, c)) USE(g1(a, (unsigned)-(int)t, c)) USE(g2(a, b, t & 31))
    USE(l1(a, b, c)) USE(l0x17(a, b, c)) USE(l0x2d(a, b, c)) USE(l0x69(a, b, c)) USE(l0x7f(a, b, c)) USE(l0x80(a, b, c)) USE(l0x9b(a, b, c)) USE(l0xca(a, b, c))
    USE(l0xd8(a, b, c)) USE(l0xe8(a, b, c)) USE(l0xfe(a, b, c))
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
