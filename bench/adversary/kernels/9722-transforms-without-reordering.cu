// launch 1 32 n=6
// launch 1 64 n=7
// A Stockham FFT between two buffers with sincospif twiddles; the float results decide nothing, the twiddle's table does.
extern "C" __global__ void k9722(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float2 x[128], y[128], wave[64];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, N = 1u << n;
    float acc = 0;
    for (unsigned i = t; i < N; i += T) x[i] = make_float2((float)(src[i] & 15), 0.f);
    for (unsigned i = t; i < N / 2; i += T) { float a, b; sincospif(-2.0f * i / N, &a, &b); wave[i] = make_float2(b, a); }
    __syncthreads();
    float2 *a = x, *b = y;
    for (unsigned half = N / 2, span = 1; half >= 1; half >>= 1, span <<= 1) {
        for (unsigned i = t; i < N / 2; i += T) {
            unsigned p = i / span, q = i % span;
            float2 u = a[q + span * p], v = a[q + span * (p + half)], e = wave[p * span];
            b[q + span * 2 * p] = make_float2(u.x + v.x, u.y + v.y);
            float dx = u.x - v.x, dy = u.y - v.y;
            b[q + span * (2 * p + 1)] = make_float2(dx * e.x - dy * e.y, dx * e.y + dy * e.x);
        }
        __syncthreads();
        float2* c = a; a = b; b = c;
    }
    for (unsigned i = t; i < N; i += T) acc += a[__brev(i) >> (32 - n)].x;
    out[(blockIdx.x * T + t) & 2047] = __float_as_uint(acc) + l + w;
}
