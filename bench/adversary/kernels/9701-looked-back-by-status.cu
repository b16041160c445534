// launch 3 64 n=2
// launch 5 96 n=3
// Decoupled look-back: a ticket is the tile, a status word per tile in global memory is polled, the prefix decides.
extern "C" __global__ void k9701(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned tile, before;
    if (t == 0) tile = atomicAdd(&out[3000], 1) - 3000;
    __syncthreads();
    unsigned b = tile, v = src[(b * T + t) & 1023] & 7, sum = __reduce_add_sync(~0u, v);
    __shared__ unsigned part[32];
    if (l == 0) part[w] = sum;
    __syncthreads();
    if (t == 0) {
        unsigned total = 0, prefix = 0;
        for (unsigned i = 0; i < T / 32; i++) total += part[i];
        volatile unsigned* state = out + 3100;
        if (b == 0) { __threadfence(); state[0] = 0x80000000u | total; }
        else {
            state[b] = 0x40000000u | total;
            for (int at = b - 1; at >= 0; at--) {
                unsigned word;
                do word = state[at]; while (!(word >> 30));
                prefix += word & 0xffff;
                if (word >> 31) break;
            }
            __threadfence();
            state[b] = 0x80000000u | (prefix + total);
        }
        before = prefix;
    }
    __syncthreads();
    acc += s[(before + t * 3) & 1023] + s[(before * l) & 1023] + s[(b * l + t) & 1023];
    if (b & 1) acc += s[(t * 4 + part[1]) & 1023];
    out[t + b * T] = acc;
}
