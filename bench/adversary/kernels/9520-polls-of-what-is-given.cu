// launch 1 32 n=1
// launch 2 64 n=2
// Polls of specified words of global memory by volatile, relaxed, acquire and cached loads: the loops end at once, or after some other word.
extern "C" __global__ void k9520(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    const volatile unsigned* v = src;
    unsigned spins = 0, x;
    while (v[n] == 4000) { spins++; __nanosleep(20); }
    do { asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(src + 2 * n) : "memory"); } while (x == 4001);
    acc += s[(l * x) & 1023];
    do { asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(src + 3 * n) : "memory"); } while (x == 4002);
    acc += s[(l * x) & 1023];
    x = __ldcg(src + n * 5); acc += s[(l * x) & 1023];
    x = __ldcv(src + n * 6); acc += s[(l * x) & 1023];
    asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(x) : "l"(src + 7 * n) : "memory");
    if (x & 1) acc += s[(l * 2) & 1023]; else s[(l * 3) & 1023] = x;
    for (unsigned k = 0; v[k + l] & 6; k++) acc += s[(l * 5 + k) & 1023];
    s[(l * (spins + 1)) & 1023] = acc;
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
