// launch 1 64 n=7
// launch 1 96 n=5
// Sample sort: splitters by a sort of few, buckets by binary search, ranks in buckets in lane order, then a scatter.
extern "C" __global__ void k9720(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned cut[8], begin[9], moved[128];
    if (t < n) cut[t] = src[t * 77 + 5];
    __syncthreads();
    if (t == 0) for (unsigned i = 1; i < n; i++) { unsigned v = cut[i]; int j = i - 1; while (j >= 0 && cut[j] > v) { cut[j + 1] = cut[j]; j--; } cut[j + 1] = v; }
    if (t < 9) begin[t] = 0;
    __syncthreads();
    unsigned v = src[t * 13 & 1023], lo = 0, hi = n;
    while (lo < hi) { unsigned mid = lo + hi >> 1; if (cut[mid] <= v) lo = mid + 1; else hi = mid; }
    unsigned rank = 0;
    for (unsigned i = 0; i < T; i++) { unsigned other = src[i * 13 & 1023], b = 0; for (unsigned k = 0; k < n; k++) b += cut[k] <= other; rank += b < lo || (b == lo && i < t); }
    moved[rank] = v;
    atomicAdd(&begin[lo], 1);
    __syncthreads();
    acc += s[moved[t]] + s[begin[lo] * l & 1023] + s[rank * 4 & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
