// launch 1 32 n=5
// launch 1 64 n=6
// An n by 2n+1 matrix is transposed in place by following the cycles of its permutation, each lane those that it leads.
extern "C" __global__ void k9727(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned rows = n, cols = 2 * n + 1, all = rows * cols;
    for (unsigned start = 1 + t; start < all - 1; start += T) {
        unsigned at = start;
        do at = at * rows % (all - 1); while (at > start);
        if (at < start) continue;
        unsigned v = s[start], from = start;
        do { from = from * rows % (all - 1); unsigned x = s[from]; s[from] = v; v = x; } while (from != start);
    }
    __syncthreads();
    for (unsigned i = t; i < all; i += T) acc += s[s[i] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
