// launch 1 64 n=6
// launch 2 96 n=13
// Hofstadter's female and male sequences with a table in shared memory that cuts the recursion short; the index of each access is a returned value.
__shared__ unsigned a[3 * 384], b[3 * 768];
#define T threadIdx.x
#define F(k) (*(volatile unsigned*)&a[(T >> 5) * 384 + 33 * (k) + (T & 31)])
#define M(k) (*(volatile unsigned*)&b[(T >> 5) * 768 + 16 * (T & 31) + (k)])
__device__ __noinline__ unsigned male(unsigned k);
__device__ __noinline__ unsigned female(unsigned k) {
    if (k == 0) return 1;
    const unsigned known = F(k);
    if (known & 64) return known & 15;
    F(k) = known + 128;
    const unsigned c = female(k - 1);
    M(c) += 256;
    const unsigned y = k - male(c);
    F(k) = (y & k & 1) ? y + 64 : 0;
    M(y) += 512;
    return y;
}
__device__ __noinline__ unsigned male(unsigned k) {
    if (k == 0) return 0;
    if (M(k) & 64) return M(k) & 15;
    const unsigned c = male(k - 1);
    F(c) += 1024;
    const unsigned y = k - female(c);
    if (k & 2) return y;
    M(k) = y + 64;
    return y;
}

extern "C" __global__ void k10088(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T;
    for (unsigned k = 0; k < 11; k++) F(k) = 0;
    for (unsigned k = 0; k < 16; k++) M(k) = 0;
    __syncthreads();
    unsigned v = src[(t * 3 + n) & 4095] + blockIdx.x, sum = 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned k = 1 + v % 9;
        unsigned y;
        if (v & 16) y = female(k); else y = male(k);
        sum = sum * 5 + F(y) + M(y) + y;
        if (v & 32) F(k) = 0;
        if ((v & 192) == 64) { M(k) = 0; M(k >> 1) = 0; }
        v = v * 1664525 + 1013904223 + y;
        v ^= v >> 9;
    }
    __syncthreads();
    for (unsigned k = 0; k < 9; k++) sum += a[33 * k + (sum & 31)] * k + b[16 * (t & 31) + k];
    out[blockIdx.x * 96 + t] = sum;
}
