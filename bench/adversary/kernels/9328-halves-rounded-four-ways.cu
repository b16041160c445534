// launch 1 32 n=2
// launch 1 48 n=25
// launch 3 33 n=8
// Floats at ties rounded to integers in all modes, by functions and by adding big constants; a loop whose bound is a rounded number.
extern "C" __global__ void k9328(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float x[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    x[t] = ((float)(int)(t * n) - 40.0f) * 0.5f;
    __syncthreads();
    float v = x[blockDim.x - 1 - t];
    acc += s[(__float2int_rn(v) * 4 + 512) & 1023];
    acc += s[(__float2int_rz(v) * 8 + 512) & 1023];
    acc += s[(__float2int_ru(v) * 3 + 512) & 1023];
    acc += s[(__float2int_rd(v) * 2 + 512) & 1023];
    int r = (int)rintf(v), h = (int)roundf(v), u = (int)ceilf(v), z = (int)truncf(v * 1.5f);
    if (r != h) acc += s[(r * 16 + h) & 1023];
    if (u - z > 1) s[(unsigned)(u * 5 + z) & 1023] = acc;
    float big = v * f + 12582912.0f;
    acc += s[__float_as_uint(big) & 1023];
    float down = __fadd_rd(v, 8388608.0f), up = __fadd_ru(v, 8388608.0f);
    unsigned apart = __float_as_uint(up) - __float_as_uint(down);
    acc += s[((__float_as_uint(down) & 31) * 32 + apart) & 1023];
    for (int i = __float2int_rn(v); i < __float2int_ru(v) + 2; i++) acc += s[(i * 31 + (int)t + 512) & 1023];
    long long l = llrintf(v * 1.25f); long m = lroundf(v * 1.25f);
    acc += s[(unsigned)(l * 4 + (l - m) * 9 + 512) & 1023];
    float q = nearbyintf(v * 0.5f) * 2.0f - v;
    if (q == 0.0f) s[(t * 4) & 1023] = acc; else if (q > 0.0f) acc += s[(t * 8 + (unsigned)(q * 4.0f)) & 1023];
    float frac = v - floorf(v);
    acc += s[(unsigned)(frac * 64.0f) + (__float2uint_ru(fabsf(v)) & 31) * 2];
    double d = (double)v * 0.75;
    acc += s[(unsigned)(__double2int_rn(d) ^ __double2int_ru(d) << 4 ^ __double2int_rd(d) << 2) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
