// launch 1 32 n=3
// launch 1 64 n=6
// brx.idx in a loop, predicated calls of PTX functions with byte arrays of parameters, and a label reached from two tables.
extern "C" __global__ void k9779(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned base = (unsigned)__cvta_generic_to_shared(s), r = 0;
    asm volatile("{\n"
        ".reg .u32 k, at, v, i; .reg .pred p;\n"
        "mov.u32 k, 0; mov.u32 v, 0; setp.ne.u32 p, k, k;\n"
        "TOP: add.u32 i, %1, k; rem.u32 i, i, 4;\n"
        "ts: .branchtargets C0, C1, C2, C1;\n"
        "brx.idx i, ts;\n"
        "C0: mad.lo.u32 at, %1, 8, %3; ld.shared.u32 i, [at]; add.u32 v, v, i; bra NEXT;\n"
        "C1: mad.lo.u32 at, %1, 16, %3; ld.shared.u32 i, [at+64]; xor.b32 v, v, i;\n"
        "C2: and.b32 i, v, 31; mad.lo.u32 at, i, 128, %3; @!p ld.shared.u32 i, [at]; setp.gt.u32 p, k, 2;\n"
        "NEXT: add.u32 k, k, 1; setp.lt.u32 p, k, %2; @p bra TOP;\n"
        "mov.u32 %0, v; }" : "=r"(r) : "r"(l), "r"(n), "r"(base) : "memory");
    acc += s[r & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
