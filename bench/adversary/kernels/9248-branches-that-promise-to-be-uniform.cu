// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 45 n=5
// Inline PTX: bra.uni on uniform predicates, negated guards, a loop with two back edges and guarded accesses on its way.
extern "C" __global__ void k9248(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(s), r = 0, c = 0;
    asm volatile("{ .reg .pred p, z; .reg .u32 i, a, v, m;\n"
        "mov.u32 i, 0; mov.u32 %1, 0;\n"
        "HEAD: setp.ge.u32 p, i, %4; @p bra.uni DONE;\n"
        "mad.lo.u32 a, %2, 8, %3; shl.b32 m, i, 7; add.u32 a, a, m; and.b32 m, %2, 3; setp.eq.u32 z, m, i;\n"
        "@!z ld.shared.u32 v, [a]; @!z add.u32 %0, %0, v;\n"
        "add.u32 i, i, 1; @z bra HEAD;\n"
        "add.u32 %1, %1, i; @z st.shared.u32 [a], i;\n"
        "setp.lt.u32 z, %1, 7; @!z st.shared.u32 [a+4], i;\n"
        "bra.uni HEAD;\n"
        "DONE: }" : "+r"(r), "=r"(c) : "r"(l), "r"(at), "r"(n) : "memory");
    acc += r + s[(l * c) & 1023];
    asm volatile("{ .reg .pred p, q, t; .reg .u32 a, v, d;\n"
        "setp.gt.u32 p|q, %1, 9; and.b32 d, %3, 1; setp.ne.u32 t, d, 0;\n"
        "mad.lo.u32 a, %1, 20, %2;\n"
        "@t bra.uni ODD;\n"
        "@p ld.shared.u32 v, [a]; @q ld.shared.u32 v, [a+128]; bra.uni JOIN;\n"
        "ODD: @q bra SKIP; ld.shared.u32 v, [a+4]; xor.b32 a, a, 64; SKIP: @p st.shared.u32 [a], %3; selp.u32 v, 1, 2, q;\n"
        "JOIN: add.u32 %0, %0, v; }" : "+r"(r) : "r"(l), "r"(at), "r"(n) : "memory");
    acc += r & 1;
    asm volatile("{ .reg .pred p; .reg .u32 k, a, b; mov.u32 k, %0;\n"
        "L: and.b32 a, k, 255; mad.lo.u32 b, a, 12, %1; st.shared.u32 [b], k; sub.u32 k, k, 3; setp.ge.s32 p, k, 0; @p bra L; }" :: "r"(l & 15), "r"(at) : "memory");
    s[(l * (c + 2)) & 1023] = acc;
    if (c != n) acc += s[(l * 16) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
