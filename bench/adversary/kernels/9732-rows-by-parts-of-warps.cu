// launch 2 64 n=4
// launch 1 96 n=8
// launch 1 32 n=2
// CSR with n lanes to a row, whose lengths come from memory; merge-based rows per lane by a diagonal search.
extern "C" __global__ void k9732(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned offset[65];
    if (t == 0) { unsigned sum = 0; for (unsigned i = 0; i < 64; i++) { offset[i] = sum; sum += src[i] & 7; } offset[64] = sum; }
    __syncthreads();
    for (unsigned row = (blockIdx.x * T + t) / n; row < 64; row += T / n) {
        unsigned sum = 0;
        for (unsigned k = offset[row] + t % n; k < offset[row + 1]; k += n) sum += s[(k * 3) & 1023] + s[src[k] & 1023];
        for (unsigned d = n / 2; d; d /= 2) sum += __shfl_down_sync(__activemask(), sum, d, n);
        if (t % n == 0) acc += sum;
    }
    __syncthreads();
    unsigned all = 64 + offset[64], per = (all + T - 1) / T, diagonal = min(t * per, all), lo = diagonal > offset[64] ? diagonal - offset[64] : 0, hi = min(diagonal, 64u);
    while (lo < hi) { unsigned mid = (lo + hi) >> 1; if (offset[mid + 1] <= diagonal - mid - 1) lo = mid + 1; else hi = mid; }
    unsigned row = lo, k = diagonal - lo;
    for (unsigned i = 0; i < per && row < 64; i++) if (k < offset[row + 1]) { acc += s[(k * 5) & 1023]; k++; } else { acc += offset[row]; row++; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
