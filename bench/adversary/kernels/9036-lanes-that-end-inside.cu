// launch 1 32 n=1
// launch 2 64 n=3
// launch 1 44 n=2
// Lanes that exit in loops, in functions and in inline PTX, while others wait for them at barriers of every kind.
__device__ __noinline__ unsigned quit(unsigned* s, unsigned t, unsigned n) {
    for (unsigned i = 0; i < 3; i++) {
        if ((t + i) % 13 == n) asm volatile("exit;");
        s[(t * 3 + i) & 1023] = i;
        if ((t ^ i) & 4) continue;
        if ((t & 15) == 9) return 4;
    }
    return s[(t * 2) & 1023] & 3;
}
extern "C" __global__ void k9036(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    if ((t & 31) == 30) { s[(t * 4) & 1023] = 1; return; }
    acc += s[(t * 5) & 1023];
    if (t & 1) acc += quit(s, t, n); else { asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 20; @p exit; }" :: "r"(t & 31)); acc += s[(t * 6) & 1023]; }
    s[(t * 7) & 1023] = acc;
    __syncthreads();
    acc += s[(t * 8) & 1023];
    for (unsigned i = 0; i < 4; i++) { if ((t & 31) == i * 4 + 2) { out[(blockIdx.x * blockDim.x + t) & 2047] = acc; return; } acc += s[(t + i * 32) & 1023]; }
    __syncwarp();
    acc += s[(t * 9) & 1023];
    acc += quit(s, t + 1, n + 1);
    s[(t * 10) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
