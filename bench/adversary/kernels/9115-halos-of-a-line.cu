// launch 1 32 n=1
// launch 2 64 n=4
// launch 1 93 n=9
// A line with halos of radius n, loaded by the first threads; coarsened outputs at a stride; cyclic and clamped borders.
__constant__ int weights[8] = {3, -1, 4, 1, -5, 9, 2, 6};
extern "C" __global__ void k9115(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ int line[4 * 96 + 32], ring[128];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, wide = 4 * size;
    int radius = n, base = blockIdx.x * wide;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < wide; k += size) line[radius + k] = src[(base + k) & 2047] & 15;
    if ((int)t < radius) {
        line[t] = src[max(base - radius + (int)t, 0)] & 15;
        line[radius + wide + t] = src[min(base + (int)wide + (int)t, 2047)] & 15;
    }
    ring[t] = src[t] & 7;
    __syncthreads();
    for (unsigned c = 0; c < 4; c++) {
        int sum = 0, at = c + t * 4 + radius;
        for (int d = -radius; d <= radius; d++) sum += weights[(d + 8) & 7] * line[at + d];
        acc += s[(unsigned)sum & 1023];
        int around = 0;
        for (int d = 1; d <= radius; d++) around += ring[(t + size - d) % size] - ring[(t + d) % size];
        s[(unsigned)(around * 8 + (int)t) & 1023] = acc;
    }
    __syncthreads();
    for (unsigned step = 0; step < 3; step++) {
        int left = ring[t ? t - 1 : size - 1], right = ring[t + 1 == size ? 0 : t + 1], here = ring[t];
        __syncthreads();
        ring[t] = (left + 2 * here + right) & 31;
        __syncthreads();
    }
    acc += s[(unsigned)ring[t] * 32 & 1023] + s[(unsigned)ring[t] * t & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
