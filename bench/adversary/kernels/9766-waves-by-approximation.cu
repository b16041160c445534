// launch 1 64 n=3
// launch 1 64 n=9
// Approximate functions to indices: __sinf, __cosf, __expf, __logf, __fdividef, __frcp_rn, rsqrtf, exp2f, tanh, powf.
extern "C" __global__ void k9766(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    float x = (float)t * 0.3f, y = (float)n;
    acc += s[(int)(__sinf(x) * 100) & 1023] + s[(int)(__cosf(x) * 31) * 32 & 1023] + s[(int)__expf(x * 0.2f) & 1023] + s[(int)(__logf(x + 1) * 50) & 1023] + s[(int)__fdividef(x * 100, y) & 1023];
    acc += s[(int)(__frcp_rn(y) * t) & 1023] + s[(int)(rsqrtf(x + 1) * 64) & 1023] + s[(int)exp2f(l * 0.25f) & 1023] + s[(int)(__powf(x, 1.5f)) & 1023] + s[(int)(tanhf(x - 5) * 100 + 100) & 1023];
    acc += s[(int)(sinf(x) * 64 + 64)] + s[(int)(atan2f(x, y) * 100)] + s[(int)(cbrtf((float)t) * 16)] + s[(int)(hypotf(x, y)) * 8 & 1023] + s[(int)(log2f((float)(t + 1)) * 32)] + s[(int)(erff(x) * 31) * 32 & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
