// launch 1 32 n=2
// launch 1 128 n=3
// launch 2 90 n=5
// Hillis-Steele between two buffers that swap by an index and by pointers; the scanned flags are places of a compaction.
extern "C" __global__ void k9103(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned buf[2][160], kept[512], places[160];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, in = 0;
    for (unsigned k = t; k < 512; k += size) kept[k] = k;
    unsigned v = src[t * 3 & 2047], flag = (v + (v >> 2)) % n == 0;
    buf[0][t] = flag;
    __syncthreads();
    for (unsigned d = 1; d < size; d <<= 1) {
        buf[in ^ 1][t] = t >= d ? buf[in][t] + buf[in][t - d] : buf[in][t];
        in ^= 1;
        __syncthreads();
    }
    unsigned place = buf[in][t] - flag, count = buf[in][size - 1];
    if (flag) kept[place * n & 511] = v & 511; else kept[(511 - (t - place) * 2) & 511] = v & 255;
    __syncthreads();
    if (t < count) acc += kept[(kept[t * n & 511] + t) & 511];
    __syncthreads();
    unsigned *from = buf[0], *to = buf[1];
    from[t] = flag ? t : 0;
    __syncthreads();
    for (unsigned d = 1; d < size; d *= 2) {  // an inclusive scan with max: the last kept before each
        unsigned x = from[t];
        if (t >= d) x = max(x, from[t - d]);
        to[t] = x;
        __syncthreads();
        unsigned* other = from; from = to; to = other;
    }
    places[t] = from[t];
    __syncthreads();
    acc += kept[(t - places[t]) * 32 & 511];
    acc += kept[places[size - 1 - t] & 511];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
