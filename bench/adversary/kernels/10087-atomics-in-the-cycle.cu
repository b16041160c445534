// launch 2 64 n=10
// launch 1 128 n=5
// launch 1 33 n=8
// Shared atomics before and after the inner calls and in the caller: own words decide what follows, common counters are only added up; lanes return early in both functions.
__shared__ unsigned s[4 * 448], h[256];
#define T threadIdx.x
#define AT(d) (&s[(T >> 5) * 448 + 33 * (d) + (T & 31)])
#define ATOM(op) "atom.shared." op " %0, [%1], %2;"
#define USE(op, p, x) ({ unsigned r_; asm volatile(ATOM(op) : "=r"(r_) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(x) : "memory"); r_; })
#define RED(op, p, x) asm volatile("red.shared." op " [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(p)), "r"(x) : "memory")
__device__ __noinline__ unsigned right(unsigned x, unsigned d);
__device__ __noinline__ unsigned left(unsigned x, unsigned d) {
    if (d == 0) { RED("add.u32", &h[x & 31], 1u); return x; }
    const unsigned old = USE("add.u32", AT(d), x);
    RED("max.u32", &h[32 + d * 4 + (T & 3)], x);
    if ((old & 15) == 11) return old & 1023;
    unsigned y = right((x + old) & 2047, d - 1);
    y ^= USE("exch.b32", AT(y % 13), y);
    RED("add.u32", &h[128 + (y & 3) * 32], y);
    return y & 4095;
}
__device__ __noinline__ unsigned right(unsigned x, unsigned d) {
    if (d == 0 || (x & 31) == 30) return x + USE("or.b32", AT(d), x);
    RED("xor.b32", &h[(T & 31) * 8], x);
    unsigned y = left(x >> 1, d - 1);
    if (y & 4) return y + USE("min.u32", AT(d), y);
    y += left(y & 127, d >> 2);
    RED("add.u32", &h[(T * 33 + d) & 255], 1u);
    return y ^ USE("inc.u32", AT((d + y) % 13), 999u);
}

extern "C" __global__ void k10087(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T;
    for (unsigned d = 0; d < 13; d++) *AT(d) = src[(t * 13 + d) & 4095] & 255;
    for (unsigned i = t; i < 256; i += blockDim.x) h[i] = 0;
    __syncthreads();
    unsigned v = src[(t * 17 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        if ((v + t) & 1) v = left(v & 1023, 1 + t % 11); else v = right(v & 1023, 11 - (v & 7)) + i;
        RED("add.u32", &h[v & 255], v);
        v += USE("and.b32", AT(v % 13), ~v);
        if (v % 19 == 4) break;
    }
    __syncthreads();
    for (unsigned i = t; i < 256; i += blockDim.x) out[4096 + blockIdx.x * 256 + i] = h[i];
    out[blockIdx.x * 128 + t] = v + *(volatile unsigned*)AT(v % 13);
}
