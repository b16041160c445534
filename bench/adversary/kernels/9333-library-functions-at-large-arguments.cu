// launch 1 32 n=3
// launch 1 40 n=123456
// launch 2 33 n=70
// sinf, cosf, tanf of large arguments (reduced with a table in local memory by some lanes), powf, expf, logf, atan2f, cbrtf, erff: scaled to indices.
extern "C" __global__ void k9333(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float kept[40];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    float x = (float)(t * n) * (t % 5 == 2 ? 54321.7f : 0.7f) * f;
    kept[t] = sinf(x);
    __syncthreads();
    float v = kept[(t + 11) % blockDim.x];
    acc += s[(unsigned)(v * 500.0f + 511.5f) & 1023];
    if (v < 0.0f) acc += s[(unsigned)(-v * 31.0f) * 32 & 1023]; else s[(unsigned)(v * 31.0f) * 33 & 1023] = acc;
    float a, b; sincosf(x * 0.3f, &a, &b);
    acc += s[(unsigned)((atan2f(a, b) + 3.2f) * 100.0f) & 1023];
    acc += s[(unsigned)fabsf(tanf((float)t * 0.1f) * 20.0f) & 1023];
    acc += s[(unsigned)powf((float)(t % 9) + 0.5f, 1.0f + f) & 1023];
    acc += s[(unsigned)(logf((float)(t + 1)) * 64.0f) & 1023];
    unsigned steps = (unsigned)log2f((float)(t * t + 1));
    for (unsigned i = 0; i < steps; i += 2) acc += s[(t * 2 + i * 17) & 1023];
    acc += s[(unsigned)(expf(-(float)(t & 7) * 0.5f) * 1000.0f) & 1023];
    acc += s[(unsigned)(cbrtf((float)(t * 729)) * 4.0f + 0.01f) & 1023];
    acc += s[(unsigned)(erff((float)t * 0.05f) * 512.0f) * 2 & 1023];
    double d = exp2((double)(t % 12) * 0.75) + sin((double)x);
    acc += s[(unsigned)(d + 2.0) & 1023];
    if (exp10f((float)(t & 3)) == 100.0f) acc += s[(t * 16) & 1023];
    s[(unsigned)(hypotf((float)(t % 7), (float)(t / 7)) * 32.0f) & 1023] = acc;
    acc += s[(unsigned)(tgammaf((float)(t % 6) + 1.0f) + 0.5f) * 8 & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
