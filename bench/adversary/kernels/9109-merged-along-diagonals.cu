// launch 1 32 n=3
// launch 1 64 n=5
// launch 1 45 n=4
// Merge path: each thread searches its diagonal and merges n items; then bottom-up merges of blocks by co-ranks.
__device__ __forceinline__ unsigned path(const unsigned* a, unsigned na, const unsigned* b, unsigned nb, unsigned diagonal) {
    unsigned low = diagonal > nb ? diagonal - nb : 0, high = min(diagonal, na);
    while (low < high) {
        unsigned mid = (low + high) >> 1;
        if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1; else high = mid;
    }
    return low;
}
extern "C" __global__ void k9109(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[256], b[256], m[512];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, total = n * size, na = total * 2 / 5, nb = total - na;
    for (unsigned k = t; k < na; k += size) a[k] = src[k] * 2 + (k >> 4 & 1);
    for (unsigned k = t; k < nb; k += size) b[k] = src[k * 2 & 2047] + k / 3;
    __syncthreads();
    unsigned i = path(a, na, b, nb, t * n), j = t * n - i;
    for (unsigned k = 0; k < n; k++) {
        bool first = j >= nb || (i < na && a[i] <= b[j]);
        m[t * n + k] = first ? a[i] : b[j];
        if (first) i++; else j++;
    }
    __syncthreads();
    acc += m[(m[t * n] + t) & 255];
    __syncthreads();
    for (unsigned k = t; k < 256; k += size) a[k] = (k * 2654435761u) >> 24;
    __syncthreads();
    unsigned *from = a, *to = b;
    for (unsigned width = 16; width < 256; width *= 2) {
        if (width == 16) {  // insertion sort of 16 items by some lanes, at a stride of 16
            if (t < 16)
                for (unsigned k = 1; k < 16; k++) {
                    unsigned x = from[t * 16 + k], p = k;
                    while (p > 0 && from[t * 16 + p - 1] > x) { from[t * 16 + p] = from[t * 16 + p - 1]; p--; }
                    from[t * 16 + p] = x;
                }
            __syncthreads();
        }
        for (unsigned k = t; k < 256; k += size) {
            unsigned pair = k & ~(2 * width - 1), d = k - pair;
            unsigned x = path(from + pair, width, from + pair + width, width, d), y = d - x;
            to[k] = y >= width || (x < width && from[pair + x] <= from[pair + width + y]) ? from[pair + x] : from[pair + width + y];
        }
        __syncthreads();
        unsigned* other = from; from = to; to = other;
    }
    acc += m[(from[t] * 3) & 255];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
