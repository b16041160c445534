// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 31 n=2
// brx.idx in a loop, by lane and by a uniform number; branches guarded by predicate logic.
extern "C" __global__ void k9027(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0, base;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    base = (unsigned)__cvta_generic_to_shared(s);
    for (unsigned i = 0; i < 3; i++) {
        unsigned r = 0;
        asm volatile("{ .reg .u32 a, v; .reg .pred p, q, c, one; setp.eq.u32 one, 0, 0;\n"
            "mad.lo.u32 a, %1, 8, %2;\n"
            "ts: .branchtargets L0, L1, L2, L3;\n"
            "brx.idx %3, ts;\n"
            "L0: ld.shared.u32 v, [a]; add.u32 %0, %0, v; bra L4;\n"
            "L1: st.shared.u32 [a+4], %1;\n"
            "L2: ld.shared.u32 v, [a+128]; add.u32 %0, %0, v; setp.gt.and.u32 p|q, v, 5, one; @q bra L4;\n"
            "L3: st.shared.u32 [a+8], %3; setp.lt.u32 p, %1, 9; setp.eq.or.u32 c, %3, 3, p; @!c bra L4; st.shared.u32 [a+12], 1;\n"
            "L4: }" : "+r"(r) : "r"(t), "r"(base), "r"((t + i * 3) & 3) : "memory");
        acc += r;
    }
    if (n == 0x7FFFFFFF) acc++;
    s[(t * 5) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
