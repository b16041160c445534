// launch 2 64 n=12 shared=16384
// launch 1 128 n=5 shared=16384
// Functions of a cycle of three are also called by a function outside of it, by the kernel in a branch and in a loop; lanes exit from inside the cycle; dynamic shared memory.
extern __shared__ unsigned s[];
#define T threadIdx.x
#define P(d) (*(volatile unsigned*)&s[(T >> 5) * 512 + 33 * (d) + (T & 31)])
#define Q(d) (*(volatile unsigned*)&s[2048 + (T >> 5) * 512 + 16 * (T & 31) + (d)])
__device__ __noinline__ unsigned mid(unsigned x, unsigned d, unsigned* out);
__device__ __noinline__ unsigned low(unsigned x, unsigned d, unsigned* out);
__device__ __noinline__ unsigned top(unsigned x, unsigned d, unsigned* out) {
    if (d == 0) return x + P(x % 13);
    P(d) = x;
    unsigned y = mid(x ^ d, d - 1, out) + Q(d);
    if (y % 5 == 1) return y;
    return y + low(y & 255, d >> 1, out);
}
__device__ __noinline__ unsigned mid(unsigned x, unsigned d, unsigned* out) {
    Q(x & 15) += x;
    if (d == 0 || (x & 7) == 4) return x >> 1;
    if (x % 61 == 35) { out[T] = x + Q(d); asm volatile("exit;"); }
    unsigned y = low(x * 3 + 1, d - 1, out);
    P(y % 13) ^= y;
    return y & 2047;
}
__device__ __noinline__ unsigned low(unsigned x, unsigned d, unsigned* out) {
    if (d == 0) return x;
    if ((x & 3) == 0) return Q(d) & 255;
    unsigned y = top(x >> 1, d - 1, out);
    Q(d) = y;
    return y + P(d);
}
__device__ __noinline__ unsigned outer(unsigned x, unsigned d, unsigned* out) {
    P(0) = x;
    unsigned y = x & 1 ? mid(x & 511, d, out) : low(x & 511, d + 1, out);
    Q(y & 15) += P(d);
    if (y & 2) y += top(y & 127, 2, out);
    return y;
}

extern "C" __global__ void k10089(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    out += blockIdx.x * 128;
    for (unsigned d = 0; d < 15; d++) P(d) = d + t;
    for (unsigned d = 0; d < 16; d++) Q(d) = src[(t * 16 + d) & 4095];
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    if (v & 4) v = outer(v, lane % 9, out); else v += low(v & 255, 10, out);
    for (unsigned i = 0; i < n; i++) {
        if (v & 8) v += top(v & 1023, 1 + ((lane + i) & 7), out);
        else if (v & 2) v = outer(v ^ i, 6, out) + 3;
        P(i % 13) = v;
        v += Q((v >> 1) & 15) + 1;
    }
    out[t] = v + P(v % 13);
}
