// launch 1 64 n=3
// launch 1 32 n=77
// PTX arithmetic: carries through four words, sad, slct, set, szext, bmsk, bfind, fns, shf.clamp, mad24, dp2a, cvt.pack.
extern "C" __global__ void k9762(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned a = t * 0x9E3779B9u, b = n * 0x85EBCA6Bu, c, d, e, g; int i;
    asm("add.cc.u32 %0, %2, %3;\n addc.u32 %1, %4, 0;" : "=r"(c), "=r"(d) : "r"(a), "r"(b), "r"(t)); acc += s[d] + s[c >> 22];
    asm("{ .reg .u32 x; sub.cc.u32 x, %2, %3;\n subc.cc.u32 %0, %4, %5;\n subc.u32 %1, 3, 1; }" : "=r"(c), "=r"(d) : "r"(t), "r"(n), "r"(l), "r"(1)); acc += s[(c * 8) & 1023] + s[d * 32 + l];
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n madc.hi.u32 %1, %2, %3, %5;" : "=r"(c), "=r"(d) : "r"(a), "r"(b), "r"(~0u), "r"(t)); acc += s[d & 1023] + s[c >> 23];
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(c) : "r"((int)t - 20), "r"((int)n), "r"(l)); acc += s[(c * 4) & 1023];
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(c) : "r"(t * 2), "r"(t * 16), "r"((int)l - 16)); acc += s[c & 1023];
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(l & 15)); acc += s[c & 1023];
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(c) : "r"(l), "r"(n)); acc += s[c >> 22];
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(c) : "r"((int)a)); acc += s[(c & 31) * 32];
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(l), "r"(2)); acc += s[(c & 31) * 16];
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "r"(t)); acc += s[c & 1023];
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "r"(t * 3)); acc += s[c & 1023];
    asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(c) : "r"(t - 40), "r"(0x1000005), "r"(7)); acc += s[c & 1023];
    asm("mul24.hi.u32 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); acc += s[c & 1023];
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "r"(t)); acc += s[c & 1023];
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(c) : "r"((int)t * 9 - 100), "r"((int)t * 5), "r"(t)); acc += s[(c >> 8) & 1023];
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(c) : "r"(t), "r"(a), "r"(l), "r"(n + 2)); acc += s[c & 1023];
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(i) : "r"((int)a), "r"(l), "r"(6)); acc += s[i & 1023];
    asm("set.ge.s32.f32 %0, %1, %2;" : "=r"(c) : "f"((float)t), "f"(f * n)); acc += s[c & l * 32];
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(c) : "r"(t), "r"(l * 4), "r"(n * 32)); acc += s[c & 1023];
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(c) : "r"(t), "r"(t * 256), "r"(l)); acc += s[c & 1023];
    asm("prmt.b32.rc16 %0, %1, 0, %2;" : "=r"(c) : "r"(a), "r"(t)); acc += s[c & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
