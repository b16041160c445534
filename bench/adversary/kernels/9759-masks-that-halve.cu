// launch 1 32 n=5
// launch 1 64 n=3
// __syncwarp, shuffles and reductions with masks that halve in every round, in loops that lanes leave or only skip.
extern "C" __global__ void k9759(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned hand[64];
    hand[t] = l;
    for (unsigned m = ~0u, width = 32, k = 0; k < n && width > 1; k++) {
        width /= 2; m = width == 32 ? ~0u : (1u << width) - 1;
        if (l < width) {
            unsigned v = hand[w * 32 + ((l + width) & 31)];
            __syncwarp(m);
            hand[w * 32 + l] = v + k;
            __syncwarp(m);
            acc += s[(hand[w * 32 + (width - 1 - l)] * 4) & 1023] + s[(__reduce_add_sync(m, l) * l) & 1023];
        } else if (l == 31) acc += s[(k * 2) & 1023];
    }
    __syncwarp();
    for (unsigned m = ~0u, k = 0; ; k++) {
        m = __ballot_sync(m, l >= k * 5);
        if (l < k * 5) break;
        acc += s[(l * (k + 1)) & 1023] + s[__shfl_sync(m, l, 31) + k];
        __syncwarp(m);
        if (k == 5) break;
    }
    acc += s[hand[t] * 8 & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
