// launch 1 32 n=1
// launch 2 96 n=4
// launch 1 77 n=3
// A histogram in n replicas at padded strides, per warp as well; the merged counts are scanned and used as places.
extern "C" __global__ void k9111(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned bins[4 * 65], own[4][33], s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0, replica = t % n, stride = n > 2 ? 65 : 64;
    for (unsigned k = t; k < 260; k += size) bins[k] = 0;
    for (unsigned k = t; k < 132; k += size) (&own[0][0])[k] = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    __syncthreads();
    for (unsigned k = t; k < 256; k += size) {
        unsigned v = src[k * 3];
        atomicAdd(&bins[replica * stride + (v * v >> 4 & 63)], 1u);
        atomicInc(&own[w][v % 33], 0xffff);
    }
    __syncthreads();
    for (unsigned k = t; k < 64; k += size) {
        unsigned sum = 0;
        for (unsigned r = 0; r < n; r++) sum += bins[r * stride + k];
        bins[k] = sum;
    }
    __syncthreads();
    unsigned most = 0;
    if (t < 33) for (unsigned r = 0; r * 32 < size; r++) most += own[r][t];
    if (t < 32) {
        acc += s[(most * l) & 1023];
        s[(bins[l] * 32 + bins[63 - l]) & 1023] = most;
    }
    __syncthreads();
    unsigned mode = 0;
    for (unsigned k = 1; k < 64; k++) if (bins[k] > bins[mode]) mode = k;
    acc += s[(l * (bins[mode] & 31)) & 1023];
    acc += s[(t * mode) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
