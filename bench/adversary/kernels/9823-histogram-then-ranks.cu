// launch 1 128 n=4
// launch 2 64 n=2
extern "C" __global__ void k9823(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned h[4][16], o[16], s[2048];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 2048; i += T) s[i] = i;
    if (l < 16) h[w][l] = 0;
    __syncthreads();
    unsigned key[2];
    for (unsigned k = 0; k < 2; ++k) { key[k] = src[(t * 2 + k + n) & 1023]; atomicAdd(&h[w][key[k] & 15], 1); }
    __syncthreads();
    if (t < 16) { unsigned sum = 0; for (unsigned i = 0; i < T / 32; ++i) { unsigned c = h[i][t]; h[i][t] = sum; sum += c; } o[t] = sum; }
    __syncthreads();
    if (t < 16) { unsigned before = 0; for (unsigned i = 0; i < t; ++i) before += o[i]; for (unsigned i = 0; i < T / 32; ++i) h[i][t] += before; }
    __syncthreads();
    for (unsigned k = 0; k < 2; ++k) {
        unsigned d = key[k] & 15, m = __match_any_sync(~0u, d), r = 0, lead = 31 - __clz(m);
        if (l == lead) r = atomicAdd(&h[w][d], __popc(m));
        r = __shfl_sync(~0u, r, lead) + __popc(m & ((1u << l) - 1));
        s[(r * 4) & 2047] = key[k];
        __syncwarp();
    }
    __syncthreads();
    acc = s[(t * 8) & 2047] & 1023; acc += s[(acc * 4) & 2047];
    out[(blockIdx.x * T + t) & 1023] = acc;
}
