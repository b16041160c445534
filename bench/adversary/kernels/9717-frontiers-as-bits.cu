// launch 1 32 n=7
// launch 1 64 n=12
// A breadth-first search whose frontiers are masks of bits; lanes take bits by ffs until none is left.
extern "C" __global__ void k9717(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned front[4], next[4], seen[4], level[128];
    if (t < 4) { front[t] = t == 0 ? 1u << (n & 31) : 0; next[t] = 0; seen[t] = front[t]; }
    for (unsigned i = t; i < 128; i += T) level[i] = 99;
    __syncthreads();
    for (unsigned depth = 0; depth < 6; depth++) {
        if (w == 0 && l < 4) for (unsigned m = front[l]; m; m &= m - 1) {
            unsigned v = l * 32 + __ffs(m) - 1, a = (v * 3 + 1) & 127, b = (v * 5 + 7) & 127;
            level[v] = depth;
            if (!(seen[a >> 5] >> (a & 31) & 1)) atomicOr(&next[a >> 5], 1u << (a & 31));
            if (!(seen[b >> 5] >> (b & 31) & 1)) atomicOr(&next[b >> 5], 1u << (b & 31));
        }
        __syncthreads();
        if (t < 4) { front[t] = next[t] & ~seen[t]; seen[t] |= next[t]; next[t] = 0; }
        if (!__syncthreads_or(t < 4 && front[t & 3])) break;
        acc += s[(__popc(seen[t & 3]) * l) & 1023];
    }
    acc += s[level[t] * 4] + s[level[127 - t]];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
