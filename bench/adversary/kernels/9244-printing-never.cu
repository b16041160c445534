// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 35 n=3
// printf, malloc and a clock in branches that no lane takes, around accesses whose registers the calls would clobber.
#ifndef __CUDACC_RTC__
#include <cstdio>
#endif
__device__ __noinline__ unsigned tell(unsigned a, unsigned b) { if (a > 5000 + b) { printf("%u %u\n", a, b); return 0; } return a ^ b; }
extern "C" __global__ void k9244(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 9) & 255; }
    __syncthreads();
    unsigned a = q[l], b = q[l + 32], i = 0;
    if (n > 1000) printf("n = %u, f = %f\n", n, f);
    acc += s[(a * 4) & 1023];
    do {
        if (a + b > 600 + i) printf("lane %u: %u\n", l, a);
        s[(l * 2 + (b & 7) * 32) & 1023] = i;
        a = (a * 5 + b) & 255; b = (b >> 1) ^ i;
        if ((a & 15) == 9) { acc += s[(l * 3) & 1023]; if (b > 300) { printf("%u", b); break; } }
        if (f < 1.0f) { unsigned* p = (unsigned*)malloc(16); if (p) { p[0] = acc; s[p[0] & 1023] = 1; free(p); } }
    } while (++i < n + (l & 3));
    acc += s[(l * (a & 31)) & 1023];
    for (unsigned k = 0; k < 3; k++) { unsigned c = tell(a + k, b); if (c & 1) acc += s[(c * 2) & 1023]; else s[(c + l * 8) & 1023] = k; a = c & 255; }
    if (l == 3 && n == 77) { printf("end %u\n", acc); return; }
    __syncwarp(__activemask());
    s[(l * (i + 1)) & 1023] = acc;
    if (t == 9999) { __nanosleep(100); acc += (unsigned)clock64(); s[acc & 1023] = 1; }
    acc += s[(l * 16 + a) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
