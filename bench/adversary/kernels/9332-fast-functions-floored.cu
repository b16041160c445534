// launch 1 32 n=4
// launch 1 59 n=19
// launch 2 64 n=300
// The special function unit: approximate sines, exponentials, logarithms and reciprocal roots, floored to indices of tables in shared memory.
extern "C" __global__ void k9332(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float wave[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    float angle = (float)(t * n) * 0.0981748f;
    wave[t] = __sinf(angle);
    __syncthreads();
    float w = wave[(t * 5 + 2) % blockDim.x];
    acc += s[(unsigned)(int)floorf(w * 15.7f + 16.3f) * 32 & 1023];
    acc += s[(unsigned)(int)floorf(__cosf(angle) * 500.0f + 511.0f) & 1023];
    float e, l, r, q;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"((float)(t % 20) * 0.37f));
    asm volatile("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"((float)(t * 3 + 1)));
    asm volatile("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"((float)(t + 2)));
    asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"((float)(t * 2 + 3)));
    acc += s[(unsigned)(e * 4.0f) & 1023];
    acc += s[(unsigned)(l * 32.0f) & 1023];
    acc += s[(unsigned)(r * 1000.0f) & 1023];
    acc += s[(unsigned)(q * 2048.0f) & 1023];
    if (__sinf(angle) > 0.3f) s[(t * 8) & 1023] = acc; else acc += s[(t * 4 + 3) & 1023];
    unsigned rounds = (unsigned)(l);
    for (unsigned i = 0; i < rounds; i++) acc += s[(t * 3 + i * 33) & 1023];
    float th, sq; asm volatile("tanh.approx.f32 %0, %1;" : "=f"(th) : "f"(w * 2.0f)); asm volatile("sqrt.approx.f32 %0, %1;" : "=f"(sq) : "f"((float)(t * t)));
    acc += s[(unsigned)((th + 1.0f) * 16.0f) * 16 & 1023];
    acc += s[(unsigned)(sq + 0.5f) * 2 & 1023];
    acc += s[(unsigned)__fdividef((float)(t * 100), (float)(n + 1)) & 1023];
    s[(unsigned)(__powf((float)(t & 15) + 1.0f, 2.0f) + 0.5f) * 4 & 1023] = acc;
    unsigned exponent = __float_as_uint(__expf(w * 8.0f)) >> 23;
    acc += s[(exponent * 8) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
