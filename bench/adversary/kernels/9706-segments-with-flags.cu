// launch 1 64 n=3
// launch 2 40 n=5
// A segmented scan by shuffles with flags of heads, between warps through shared memory; segments become pitches.
extern "C" __global__ void k9706(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ uint2 tails[8];
    unsigned v = src[t] & 3, head = t % n == 0 || t == 7, full = T & ~31u;
    if (t < full) {
        unsigned a = v, h = head;
        for (unsigned d = 1; d < 32; d <<= 1) {
            unsigned b = __shfl_up_sync(~0u, a, d), g = __shfl_up_sync(~0u, h, d);
            if (l >= d) { if (!h) a += b; h |= g; }
        }
        if (l == 31) tails[w] = make_uint2(a, h);
        v = a; head = h;
    }
    __syncthreads();
    if (w && !head && t < full) for (int i = w - 1; i >= 0; i--) { v += tails[i].x; if (tails[i].y) break; }
    acc += s[(v * 32 + l) & 1023] + s[(v * l) & 1023];
    if (head) acc += s[(t * 2 + v) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
