// launch 1 32 n=3
// launch 1 64 n=2
// launch 1 96 n=4
// A hybrid sparse matrix: ELL by columns until a sentinel, the rest as COO, summed by a segmented scan whose heads write.
extern "C" __global__ void k9129(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ int ell[4 * 96];
    __shared__ unsigned row[128], y[128], x[256], s[1024];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 256; k += size) x[k] = k * 3 & 31;
    for (unsigned k = t; k < n * size; k += size) {
        unsigned r = k % size, c = k / size, entries = (r * r + 3) % (n + 1);
        ell[k] = c < entries ? (int)(src[k * 5 & 2047] & 255) : -1;
    }
    row[t] = (t + (t >> 2)) / 3;
    y[t] = 0;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned c = 0; c < n; c++) {
        int at = ell[c * size + t];
        if (at < 0) break;
        sum += x[at];
    }
    y[t] = sum;
    __syncthreads();
    unsigned own = row[t], product = x[(t * 5) & 255] + 1;
    bool head = l == 0 || row[t - 1] != own;
    unsigned heads = __ballot_sync(~0u, head), start = 31 - __clz(heads & (~0u >> (31 - l)));
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned o = __shfl_up_sync(~0u, product, d);
        if (l >= start + d) product += o;
    }
    bool last = l == 31 || (heads >> (l + 1) & 1);
    if (last) {
        atomicAdd(&y[own], product);
        s[((l - start) * 32 + own) & 1023] = product;
    }
    __syncthreads();
    acc += s[(y[t] * 4) & 1023];
    acc += s[(y[size - 1 - t] + t) & 1023] + s[(start * l) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
