// launch 1 64 n=7
// launch 1 33 n=1000003
// What contraction, flushed denormals and roundings leave decides an index.
extern "C" __global__ void k9656(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; __syncthreads();
    float a = 1.f + (t + 1) * 1.1920929e-7f, e = a * a - (a * a); acc += s[(e != 0.f) * t]; float g = a * f - __fmul_rn(a, f); acc += s[(__float_as_uint(g) >> 20) & 127];
    float d = __uint_as_float(t * 3 + 1); acc += s[(d * 1.5f > 0.f) ? t * 2 : t]; acc += s[__float_as_uint(d + d) & 255]; acc += s[__float2uint_rn(n * 0.1f + t * 0.5f) & 255]; acc += s[(unsigned)(f / (t + 0.3f) * 100) & 255];
    acc += s[__float2int_rd(-f * t) & 63]; acc += s[(unsigned)(sqrtf((float)t) * 8) & 127]; acc += s[(unsigned)(rsqrtf(t + 1.f) * 200) & 255]; acc += s[__float_as_uint(fminf(-0.f, t & 1 ? 0.f : d)) >> 31 ? t : 3 * t];
    double x = 1.0 / (t + 1), y = x * (t + 1) - 1.0; acc += s[(y != 0) * 2 * t]; acc += s[__double2loint(x) & 63]; acc += s[(unsigned)(fmod((double)n, t + 1.0)) & 63]; out[t] = acc;
}
