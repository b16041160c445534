// launch 1 64 n=2
// launch 1 128 n=3
// Radix ranks: match_any by bits of the digit, counters of each warp, an exclusive sum over digits and warps, the scatter.
extern "C" __global__ void k9715(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned count[4][17], keys[128];
    unsigned key = src[t * 5 & 1023];
    for (unsigned pass = 0; pass < n; pass++) {
        for (unsigned i = t; i < 4 * 17; i += T) (&count[0][0])[i] = 0;
        __syncthreads();
        unsigned digit = key >> (pass * 4) & 15, peers = ~0u;
        for (int b = 0; b < 4; b++) { unsigned v = __ballot_sync(~0u, digit >> b & 1); peers &= digit >> b & 1 ? v : ~v; }
        unsigned before = __popc(peers & ((1u << l) - 1)), base = count[w][digit];
        __syncwarp();
        if (before == 0) count[w][digit] = base + __popc(peers);
        __syncthreads();
        if (t < 16) { unsigned sum = 0; for (unsigned i = 0; i < T / 32; i++) { unsigned c = count[i][t]; count[i][t] = sum; sum += c; } unsigned x = sum; for (int d = 1; d < 16; d *= 2) { unsigned y = __shfl_up_sync(0xffff, x, d); if (t >= d) x += y; } for (unsigned i = 0; i < T / 32; i++) count[i][t] += x - sum; }
        __syncthreads();
        unsigned rank = base + before + count[w][digit];
        keys[rank] = key;
        __syncthreads();
        key = keys[t];
        acc += s[(rank * 8) & 1023] + s[key];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
