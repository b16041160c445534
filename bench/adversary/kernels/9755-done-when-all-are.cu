// launch 1 64 n=5
// launch 1 96 n=9
// while (!done) with __syncthreads_or, lanes that finish keep coming; __any_sync inside, __syncthreads_count decides a pitch.
extern "C" __global__ void k9755(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned v = src[t * 3] % (n * 7) + 1, trips = 0;
    bool done = false;
    while (__syncthreads_or(!done)) {
        if (!done) {
            v = v & 1 ? v * 3 + 1 : v / 2;
            acc += s[v & 1023];
            if (v == 1 || trips > 12) done = true;
        }
        if (__any_sync(__activemask(), !done && l < 4)) acc += s[(l * 2 + trips) & 1023];
        unsigned left = __syncthreads_count(!done);
        acc += s[(left * l) & 1023];
        trips++;
    }
    acc += s[(trips * 32 + l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
