// launch 2 64 n=18
// launch 1 128 n=7
// Two functions with loops in them call each other in a loop with continue and break; 64-bit words that conflict only between lanes of different depths or trips.
typedef unsigned long long W64;
__shared__ W64 s[4 * 512];
#define T threadIdx.x
#define D(k) (*(volatile W64*)&s[(T >> 5) * 512 + 33 * (k) + (T & 31)])
__device__ __noinline__ unsigned odd(unsigned x, unsigned d);
__device__ __noinline__ unsigned even(unsigned x, unsigned d) {
    if (d == 0) return x | 1;
    for (unsigned j = 0; j < (x & 3); j++) {
        D(d + j) ^= x + j;
        if (((x >> j) & 15) == 6) return x + j;
    }
    unsigned y = odd(x * 3 + d, d - 1);
    D(y % 14) += y;
    if (y & 4) return y >> 2;
    return y + (unsigned)D(d);
}
__device__ __noinline__ unsigned odd(unsigned x, unsigned d) {
    if ((x & 7) == 1 || d == 0) return x >> 1;
    D(d) = x;
    unsigned y = 0;
    for (unsigned j = 0; j <= (x & 1); j++) {
        y += even((x ^ 0x55) + j, (d - 1) >> j);
        if (y % 5 == 2) break;
    }
    for (unsigned j = y & 3; j; j--) y += (unsigned)(D(d + j) >> j);
    return y;
}

extern "C" __global__ void k10083(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    for (unsigned k = 0; k < 14; k++) D(k) = k * 1000003ull * t;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0, at = 0; i < n; i++, at = at == 13 ? 0 : at + 1) {
        D(at) = v;
        if ((v ^ lane) & 1) v = even(v & 1023, 2 + (lane & 7)) + i;
        else v = odd(v & 1023, 9 - (i & 3)) - i;
        if (v % 7 == 3) continue;
        D(at) += v;
        if (v % 37 == 5) break;
    }
    v += (unsigned)D(n % 14);
    __syncthreads();
    out[blockIdx.x * 128 + t] = v + (unsigned)s[33 * (v & 7) + lane];
}
