// launch 1 64 n=6
// launch 1 128 n=7
// The work-efficient scan with offsets of both levels added to each index; the number of elements need not fit the block.
#define OFF(i) ((i) + ((i) >> 5) + ((i) >> 10))
extern "C" __global__ void k9707(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[OFF(511) + 1];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0, count = 1u << n, d = 1;
    for (unsigned i = t; i < count; i += T) a[OFF(i)] = src[i] & 3;
    for (unsigned half = count >> 1; half > 0; half >>= 1, d <<= 1) {
        __syncthreads();
        for (unsigned i = t; i < half; i += T) { unsigned x = d * (2 * i + 1) - 1, y = d * (2 * i + 2) - 1; a[OFF(y)] += a[OFF(x)]; }
    }
    if (t == 0) a[OFF(count - 1)] = 0;
    for (unsigned half = 1; half < count; half <<= 1) {
        d >>= 1;
        __syncthreads();
        for (unsigned i = t; i < half; i += T) { unsigned x = d * (2 * i + 1) - 1, y = d * (2 * i + 2) - 1, v = a[OFF(x)]; a[OFF(x)] = a[OFF(y)]; a[OFF(y)] += v; }
    }
    __syncthreads();
    if (t < count) acc += a[OFF(a[OFF(t)] % count)];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
