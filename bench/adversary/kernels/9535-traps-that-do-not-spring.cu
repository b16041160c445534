// launch 1 32 n=1
// launch 1 64 n=5
// launch 2 40 n=2
// Traps, assertions and endless loops on conditions that never hold: in loops, for some lanes, as time limits of polls, behind calls.
__device__ __noinline__ void check(unsigned v, unsigned got) { if (v + got > 9000) { asm volatile("brkpt;"); __trap(); } }
extern "C" __global__ void k9535(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned flag;
    if (t == 0) flag = 0;
    __syncthreads();
    unsigned v = src[t + n];
    if (v > 5000) __trap();
    acc += s[(l * (v & 3)) & 1023];
    for (unsigned k = 0; k < (v & 3); k++) { if (src[k * 40 + l] > 4000 + k) { if (l & 1) __trap(); acc += 7; } acc += s[(l * 3 + k) & 1023]; }
    if (t == T - 1) { flag = n + 1; }
    unsigned spins = 0;
    while (flag == 0) if (++spins > (1u << 24)) __trap();
    unsigned got = flag;
    if (got > 100) for (;;) { }
    acc += s[(l * got) & 1023];
    check(v, got);
    if (src[2 * l] == 5001) asm volatile("exit;"); else s[(l * 2) & 1023] = v;
    __syncwarp();
    acc += s[(l * 4) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
