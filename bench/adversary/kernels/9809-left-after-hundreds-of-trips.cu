// launch 1 64 n=300
// launch 1 96 n=77
// A loop with block-wide votes that ends late; what warps count on the way are pitches; a second loop begins where it ended.
extern "C" __global__ void k9809(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned x = t + 1, trips = 0;
    for (;;) {
        x = x * 1103515245u + 12345u;
        bool stop = trips >= n && (x >> 28) < 9;
        acc += s[((x >> 20) & 31) * 32 + (trips & 31)];
        if (__syncthreads_and(stop || trips > n + 40)) break;
        trips += 1 + (__syncthreads_count(x >> 31) == T);
    }
    acc += s[(trips * l) & 1023];
    for (unsigned k = trips; k > n - 5; k--) acc += s[(k * l + w) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
