// launch 2 64 n=5
// launch 1 128 n=2
// Each warp draws places for its leaders from a counter of its own; groups of equal digits, as in radix sorts.
extern "C" __global__ void k9817(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned h[4][64], s[2048];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = l; i < 64; i += 32) h[w][i] = i;
    __syncthreads();
    for (unsigned k = 0; k < n; ++k) {
        unsigned d = (src[(t + k * 37) & 1023] >> 3) & 15, m = __match_any_sync(~0u, d);
        unsigned leader = __ffs(m) - 1, base = 0;
        if (l == leader) base = atomicAdd(&h[w][d], __popc(m));
        base = __shfl_sync(~0u, base, leader);
        unsigned at = base + __popc(m & ((1u << l) - 1));
        s[(at * 8 + w * 3) & 2047] = k;
        acc += s[(at * 16) & 2047];
        __syncwarp();
    }
    __syncthreads();
    acc += s[(h[w][l] * 4) & 2047];
    out[(blockIdx.x * blockDim.x + t) & 1023] = acc;
}
