// launch 1 32 n=10
// launch 1 45 n=999
// launch 2 64 n=4000000000
// Doubles turned into integers by adding big numbers, by shifting the mantissa by the exponent, by high and low words; double loops and quotients.
extern "C" __global__ void k9337(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ double d[64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    d[t] = (double)n * 0.3333333333333333 + (double)((int)t - 20) * 1.7;
    __syncthreads();
    double x = d[(t * 3 + 1) % T];
    acc += s[__double2loint(x + 6755399441055744.0) & 1023];
    acc += s[((unsigned)__double2hiint(x) >> 10) & 1023];
    int e = (int)(__double2hiint(x) >> 20 & 2047) - 1023;
    unsigned long long m = ((unsigned long long)__double_as_longlong(x) & 0xFFFFFFFFFFFFFull) | 1ull << 52;
    acc += s[(unsigned)(e >= 0 ? m >> (52 - e) : 0) & 1023];
    if (x < 0.0) s[(unsigned)(-x * 8.0) & 1023] = acc;
    double q = x / (double)(t + 3), r = x - floor(q) * (double)(t + 3);
    acc += s[(unsigned)(r * 4.0) & 1023];
    unsigned i = 0;
    for (double y = 1.0 + (double)t * 1e-3; y < fabs(x) + 2.0 && i < 9; y *= 1.9) { acc += s[(unsigned)(y * 3.0) + i * 33 & 1023]; i++; }
    acc += s[(unsigned)__double2uint_ru(sqrt(fabs(x)) * 10.0) & 1023];
    long long l = __double2ll_rd(x * 1048576.0);
    s[(unsigned)(l >> 18) & 1023] = acc;
    float g = (float)x; if ((double)g != x) acc += s[(t * 4) & 1023]; else acc += s[(t * 8) & 1023];
    double w = __ll2double_rz((long long)(n * 0x123456789ull) << 8 | t) * 0x1p-20;
    acc += s[(unsigned)__double2ull_rz(w) & 1023];
    double tenth = 0.0; for (unsigned k = 0; k <= t % 11; k++) tenth += 0.1;
    acc += s[(unsigned)(tenth * 10.0) * 32 + (tenth == (double)(t % 11 + 1) / 10.0)];
    acc += s[(unsigned)__dadd_ru(__dmul_rd(x, 0.1), 512.0) & 1023];
    acc += s[(unsigned)fmin(fmax(rint(x * 2.5), -5.0) + 5.0, 1000.0)];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
