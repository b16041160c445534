// launch 1 32 n=6
// launch 1 47 n=1
// launch 2 64 n=4000
// fmod and remainder of many periods, frexp, ldexp into denormals, nextafter across powers of two, copysign, ilogb, modf, remquo: parts become addresses.
extern "C" __global__ void k9334(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float kept[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    float x = (float)((int)(t * 97 * n) - 1500) * f, y = (float)(t % 13 + 1) * 0.75f;
    kept[t] = fmodf(x, y);
    __syncthreads();
    float m = kept[blockDim.x - 1 - t];
    acc += s[(unsigned)((int)(m * 16.0f) + 256) & 1023];
    acc += s[(unsigned)((int)(remainderf(x, y) * 32.0f) + 512) & 1023];
    int e; float frac = frexpf(x, &e);
    acc += s[(unsigned)(fabsf(frac) * 512.0f) + (unsigned)(e & 15) * 32 & 1023];
    float tiny = ldexpf(frac, -(int)(t + 120));
    acc += s[(__float_as_uint(tiny) ^ __float_as_uint(tiny) >> 20) & 1023];
    if (tiny != 0.0f && fabsf(tiny) < 1.17549435e-38f) s[(t * 8) & 1023] = acc;
    float p = ldexpf(1.0f, (int)(t & 7)), down = nextafterf(p, 0.0f), up = nextafterf(p, 1e9f);
    acc += s[(unsigned)((p - down) * 1e7f * 8.0f) + (unsigned)((up - p) * 1e7f) & 1023];
    unsigned steps = 0;
    for (float g = down; g < up; g = nextafterf(g, 2.0f * up)) { acc += s[(t * 4 + steps * 32) & 1023]; steps++; }
    float c = copysignf((float)t, m); int q; float rest = remquof(x, 3.0f, &q);
    acc += s[(unsigned)((int)c * 3 + 512) & 1023];
    acc += s[(unsigned)((q & 7) * 64 + (int)(rest * 8.0f)) & 1023];
    float whole, part = modff(x * 0.37f, &whole);
    if (signbit(part)) acc += s[(unsigned)(-part * 1000.0f) & 1023]; else s[(unsigned)whole & 1023] = acc;
    acc += s[(unsigned)(ilogbf(x + 0.1f) * 64 + (int)(logbf(y) * 5.0f)) & 1023];
    double d = fmod((double)x * 1e6, 977.0), r = scalbn(d, (int)(t & 3) - 2);
    acc += s[(unsigned)((int)r + 256) & 1023];
    acc += s[(unsigned)fdimf(x, y * 10.0f) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
