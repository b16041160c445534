// launch 1 64 n=1
// launch 2 128 n=0
// launch 1 256 n=2
// Barriers with guards, with thread counts, with a reduction whose result is an address.
extern "C" __global__ void k9004(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, acc = 0, c;
    for (unsigned k = t; k < 1024; k += nt) s[k] = k;
    __syncthreads();
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p bar.sync 1, 64; }" :: "r"((unsigned)(t < 64)) : "memory");
    acc += s[(t * 2) & 1023];
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 20; barrier.red.popc.u32 %0, 0, p; }" : "=r"(c) : "r"(t) : "memory");
    s[(t * c) & 1023] = acc;
    asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 3; barrier.red.or.pred q, 0, p; selp.u32 %0, 4, 8, q; }" : "=r"(c) : "r"(t + n) : "memory");
    acc += s[(t * c + 1) & 1023];
    if ((t >> 5) == 1) { asm volatile("barrier.arrive 3, 64;" ::: "memory"); s[(t * 3) & 1023] = 1; }
    else if ((t >> 5) == 0) { s[(t * 5) & 1023] = 2; asm volatile("barrier.sync 3, 64;" ::: "memory"); acc += s[t * 7 & 1023]; }
    out[(blockIdx.x * nt + t) & 2047] = acc;
}
