// launch 1 32 n=7
// launch 1 52 n=1023
// launch 2 64 n=3
// Differences between fused and separate products: error terms, a compensated sum, orientation of points by sign; contraction decides activity.
extern "C" __global__ void k9336(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ float2 p[64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    p[t] = make_float2((float)(t * n) * 0.1f + f, 1.0f / (float)(t + 3));
    __syncthreads();
    float2 a = p[t], b = p[(t + 1) % T], c = p[(t * 5 + 2) % T];
    float prod = __fmul_rn(a.x, b.y), err = __fmaf_rn(a.x, b.y, -prod);
    acc += s[(__float_as_uint(err) >> 16) & 1023];
    if (err > 0.0f) acc += s[(t * 8) & 1023]; else if (err < 0.0f) s[(t * 4) & 1023] = acc; else acc += s[(t * 2 + 1) & 1023];
    float free = a.x * b.y - b.x * a.y, apart = __fsub_rn(__fmul_rn(a.x, b.y), __fmul_rn(b.x, a.y));
    acc += s[((__float_as_uint(free) ^ __float_as_uint(apart)) * 16 + t) & 1023];
    float turn = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (turn >= 0.0f) acc += s[(__float_as_uint(turn) >> 13) & 1023]; else s[(__float_as_uint(turn) >> 19) & 1023] = acc;
    float sum = 0.0f, carry = 0.0f, naive = 0.0f; unsigned off = 0;
    for (unsigned i = 0; i < 12; i++) {
        float y = __fsub_rn(p[(t + i) % T].x * 1000.0f, carry), next = __fadd_rn(sum, y);
        carry = __fsub_rn(__fsub_rn(next, sum), y); sum = next; naive += p[(t + i) % T].x * 1000.0f;
        if (carry != 0.0f) { off++; acc += s[(off * 32 + i) & 1023]; }
    }
    acc += s[(__float_as_uint(sum) - __float_as_uint(naive) + t * 4) & 1023];
    double twice = fma((double)a.x, (double)b.y, -(double)prod);
    if ((float)twice == err) acc += s[(t * 3) & 1023];
    float poly = ((a.y * 3.0f - 2.0f) * a.y + 1.5f) * a.y - 0.25f;
    s[(__float_as_uint(poly) >> 11) & 1023] = acc;
    int q = (int)(a.x * b.y + 0.5f);
    acc += s[(unsigned)q * 32 & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
