// launch 1 1024 n=3
// launch 1 32x32 n=7
// launch 1 992 n=2
// All thirty-two warps: patterns by warp, a two-level reduction, tile transposes with and without padding, warps as rows.
extern "C" __global__ void k9788(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], padded[32 * 33];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    __syncthreads();
    padded[w * 33 + l] = t; __syncthreads();
    acc += padded[l * 33 + w] + s[l * 32 + w] + s[(w * l) & 1023] + s[(l << (w & 7)) & 1023] + s[(l ^ w) * 32 + (w & n)];
    if (w % n == 1) acc += s[(l * w * 2) & 1023];
    unsigned sum = __reduce_add_sync(~0u, l & w);
    if (l == 0) s[w * 33 & 1023] = sum; __syncthreads();
    if (w == 0) { unsigned v = s[l * 33 & 1023]; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); acc += s[v & 1023]; }
    for (unsigned k = 0; k < (w & 3); k++) acc += s[(l * (k + w)) & 1023];
    out[t] = acc;
}
