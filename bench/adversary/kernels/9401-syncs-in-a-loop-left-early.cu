// launch 1 32 n=4
// launch 2 64 n=4
// bar.warp.sync in a loop that lanes leave in different trips; then loads, with and without a barrier between them.
extern "C" __global__ void k9401(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048];
    unsigned t = threadIdx.x, base = (unsigned)__cvta_generic_to_shared(s), a = 0, b = 0, c = 0, i = 0;
    for (unsigned k = t; k < 2048; k += blockDim.x) s[k] = k;
    __syncthreads();
    asm volatile("{ .reg .pred p; .reg .u32 at;\n"
        "mad.lo.u32 at, %5, 4, %6;\n"
        "L: bar.warp.sync -1;\n add.u32 %3, %3, %4;\n setp.lt.u32 p, %3, %5;\n @p bra L;\n"
        "ld.volatile.shared.u32 %0, [at];\n bar.warp.sync -1;\n ld.volatile.shared.u32 %1, [at+128];\n"
        "bar.sync 0;\n ld.volatile.shared.u32 %2, [at+256];\n }"
        : "=r"(a), "=r"(b), "=r"(c), "+r"(i) : "r"(n), "r"(t), "r"(base) : "memory");
    out[(blockIdx.x * blockDim.x + t) & 2047] = a + b + c + i;
}
