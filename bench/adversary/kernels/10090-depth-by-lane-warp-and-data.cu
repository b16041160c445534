// launch 1 128 n=8
// launch 2 64 n=15
// launch 1 48 n=11
// Three functions with several calls of each other in a switch; depth by lane, by warp or by data in turn; 32-, 64- and 128-bit accesses to the same own words; a barrier and reads of others' words behind.
__shared__ uint4 s[4 * 448];
#define T threadIdx.x
#define AT(d) (&s[(T >> 5) * 448 + 33 * (d) + (T & 31)])
#define V1(d, k) (((volatile unsigned*)AT(d))[k])
#define V2(d, k) (((volatile unsigned long long*)AT(d))[k])
__device__ __noinline__ unsigned fb(unsigned x, unsigned d);
__device__ __noinline__ unsigned fc(unsigned x, unsigned d);
__device__ __noinline__ unsigned fa(unsigned x, unsigned d) {
    if (d == 0) return x;
    V1(d, x & 3) = x;
    unsigned y = 0;
    switch (x & 3) {
    case 0: y = fb(x >> 2, d - 1); V1(d, 1) += y; break;
    case 1: y = fc(x + 1, d - 1) + (unsigned)V2(d, 0); break;
    case 2: return V1(y, 2) & 511;
    default: y = fb(x >> 1, d >> 1); y += fa(y & 31, d >> 2); *AT(d) = make_uint4(x, y, d, 1);
    }
    return (y & 4095) + V1(d, y & 3) % 64;
}
__device__ __noinline__ unsigned fb(unsigned x, unsigned d) {
    const uint4 w = *AT(x % 13);
    if (d == 0 || w.x % 9 == 8) return (w.y + x) & 1023;
    unsigned y = (w.z & 1) ? fa(x + 3, d - 1) : fc(x * 5, d - 1);
    V2(y % 13, x & 1) = y * 0x100000001ull;
    return y;
}
__device__ __noinline__ unsigned fc(unsigned x, unsigned d) {
    if ((x & 7) == 6) return x >> 1;
    V2(d, 1) ^= x;
    if (d == 0) return x + V1(0, 2) % 256;
    for (unsigned j = 0; j < 2; j++) {
        x = fa((x + j) & 1023, (d - 1) >> (2 * j)) + j;
        if (x & 8) return x;
        V1(d, j) = x;
    }
    return x + *((volatile unsigned*)AT(x % 13) + 3) % 16;
}

extern "C" __global__ void k10090(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    for (unsigned d = 0; d < 13; d++) *AT(d) = make_uint4(src[(t * 4 + d) & 4095], t, d, t * d);
    __syncthreads();
    unsigned v = src[(t * 19 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        const unsigned d = i % 3 == 0 ? lane % 12 : i % 3 == 1 ? (t >> 5) * 3 + 2 : v % 12;
        if (v & 1) v = fa(v & 4095, d); else if (v & 2) v = fc(v & 4095, d) + 5; else v = fb(v & 4095, d) + i;
        V1(v % 13, i & 3) += v;
        v = v * 3 + (unsigned)V2(d, v & 1);
    }
    __syncthreads();
    const uint4 w = s[(v & 3) * 33 + lane];
    out[blockIdx.x * 128 + t] = v + w.x + w.y * 3 + w.z * 5 + w.w * 7;
}
