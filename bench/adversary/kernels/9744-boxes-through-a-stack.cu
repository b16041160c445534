// launch 1 64 n=4
// launch 2 33 n=6
// A bounding-volume tree walked with a short stack, near child first by a float comparison; lanes leave at different leaves.
extern "C" __global__ void k9744(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ float split[64];
    for (unsigned i = t; i < 64; i += T) split[i] = (float)(src[i * 3] & 31) * 0.5f;
    __syncthreads();
    float at = 0.7f * (float)l + (float)n, best = 1e9f;
    unsigned stack[8]; int top = 0; unsigned node = 1;
    for (;;) {
        while (node < 32) {
            float d = at - split[node];
            unsigned near = node * 2 + (d > 0), far = near ^ 1;
            if (d * d < best && top < 8) stack[top++] = far;
            node = near;
        }
        float d = at - split[node]; d *= d;
        if (d < best) { best = d; acc += s[(node * 16 + l) & 1023]; }
        if (!top) break;
        node = stack[--top];
    }
    acc += s[(unsigned)(best * 4.f) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
