// launch 1 128 n=1
// launch 1 128 n=3
// launch 2 192 n=2
// barrier.red of pairs of warps at barriers of their own, of 32 threads and of all: counts, ors and ands that are pitches and trip counts.
extern "C" __global__ void k9540(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned count, any, pair = 1 + (w >> 1), v = src[t + n] & 7;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 3; barrier.red.popc.u32 %0, %2, 64, p; }" : "=r"(count) : "r"(v), "r"(pair) : "memory");
    acc += s[(l * (count & 15)) & 1023];
    asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 7; barrier.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }" : "=r"(any) : "r"(v), "r"(pair) : "memory");
    if (any) s[(l * 2) & 1023] = count; else acc += s[(l * 4) & 1023];
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 8; barrier.red.and.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }" : "=r"(any) : "r"(v + (w == 3)), "r"(pair) : "memory");
    if (any) s[(l * 8) & 1023] = count; else acc += s[(l * 3) & 1023];
    for (unsigned k = 0; k < (count & 3); k++) acc += s[(l * 5 + k) & 1023];
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 2; barrier.red.popc.u32 %0, 9, p; }" : "=r"(count) : "r"(v) : "memory");
    acc += s[(l * (count & 31)) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
