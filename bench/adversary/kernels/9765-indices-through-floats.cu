// launch 1 64 n=3
// launch 1 64 n=10
// Float to int with all roundings, saturation and NaN; fmodf, remquof, frexpf, ldexpf, ilogbf, nextafterf, rintf, copysignf.
extern "C" __global__ void k9765(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    float x = (float)t * 1.37f - 20.f * f, y = (float)n + 0.5f; int e; double g = (double)t * 0.1;
    acc += s[__float2int_rn(x) & 1023] + s[__float2int_rd(x) & 1023] + s[__float2uint_ru(x)  & 1023] + s[__float2uint_rz(x * 1e9f) & 1023] + s[(int)(x * 1e12f) & 1023] + s[(unsigned)(short)x & 1023];
    acc += s[(int)fmodf(x, y) & 1023] + s[(int)(remainderf(x, y) * 4) & 1023] + s[(int)(frexpf(x, &e) * 64) & 1023] + s[(e * 32) & 1023] + s[(int)ldexpf(y, l & 7) & 1023] + s[ilogbf(x) & 31];
    acc += s[__float_as_uint(nextafterf(y, x)) & 1023] + s[(int)rintf(x) & 1023] + s[(int)roundf(x) & 1023] + s[(int)truncf(copysignf(y * l, x)) & 1023] + s[(int)(x / y * 16) & 1023] + s[(int)sqrtf((float)t) * 32 & 1023];
    acc += s[(int)(g * 10) & 1023] + s[(int)floor(g) * 8 & 1023] + s[(unsigned)(g / n * 7) & 1023] + s[(unsigned)__double2hiint(g) >> 20 & 1023] + s[(int)fma(g, g, -g) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
