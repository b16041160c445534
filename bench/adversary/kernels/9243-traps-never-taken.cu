// launch 1 32 n=3
// launch 2 64 n=4
// launch 1 37 n=2
// Traps, asserts, breakpoints, unreachable and assumed things guard the accesses; one loop has its trap in the middle.
#ifndef __CUDACC_RTC__
#include <cassert>
#endif
__device__ __noinline__ unsigned checked(const unsigned* q, unsigned i) { if (i >= 1024) __trap(); return q[i]; }
extern "C" __global__ void k9243(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 7) & 127; }
    __syncthreads();
    assert(n < 100);
    unsigned v = checked(q, l * 5 + n);
    acc += s[(v * 2) & 1023];
    if (blockDim.x > 4096) asm volatile("trap;");
    for (unsigned i = 0; i < 6; i++) {
        if (i > n + (l & 1)) break;
        assert(v < 128);
        if (v == 127 && l == 31 && i == 77) { s[l] = 9; asm volatile("brkpt;"); }
        s[(l * 4 + v) & 1023] = i;
        v = checked(q, (v * 3 + i) & 1023);
        if (v > 128) { acc += s[(l * 32) & 1023]; __trap(); }
        else if (v & 1) acc += s[(l * (v & 15)) & 1023];
    }
    __builtin_assume(v < 200);
    switch (v & 3) {
    case 0: acc += s[(l * 8) & 1023]; break;
    case 1: s[(l * 3 + v) & 1023] = v; break;
    case 2: acc += s[(l * 6) & 1023]; break;
    case 3: if (l == 40) asm volatile("exit;"); s[(l * 16) & 1023] = acc; break;
    default: __builtin_unreachable();
    }
    if (__syncthreads_or(v > 300)) __trap();
    acc += s[(l * 9 + v) & 1023];
    if (q[l] & 256) { s[(l * 7) & 1023] = 1; while (true) asm volatile("trap;"); }
    s[(checked(q, (l ^ v) & 1023) * 4) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
