// launch 1 32 n=3
// launch 2 64 n=6
// launch 1 64 n=1
// Warp-aggregated atomics: per key by match, per predicate by ballot; the histogram's bins then are strides and trip counts.
extern "C" __global__ void k9249(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 7 + (k >> 3)) % 23; }
    __syncthreads();
    __shared__ unsigned bin[34], total;
    for (unsigned k = t; k < 34; k += nt) bin[k] = 0;
    if (t == 0) total = 0;
    __syncthreads();
    for (unsigned i = 0; i < 3; i++) {
        unsigned key = q[(t + i * 64) & 1023] % (n + 2 * i + 1), same = __match_any_sync(~0u, key);
        unsigned lead = 31 - __clz(same), count = __popc(same);
        if (l == lead) atomicAdd(&bin[key * (i + 1) & 31], count);
        if (count > 3) acc += s[(l * count) & 1023]; else s[(key * 32 + l) & 1023] = count;
        __syncwarp();
    }
    bool in = q[t] > 10;
    unsigned b = __ballot_sync(~0u, in);
    if (in) {
        unsigned r = __popc(b & ((1u << l) - 1));
        if (r == 0) atomicAdd(&total, __popc(b));
        s[(r * 8 + w) & 1023] = r;
        if (r & 1) atomicMax(&bin[33], r); else atomicOr(&bin[32], 1u << (r & 15));
    }
    __syncthreads();
    unsigned c = bin[l & 15], sum = total;
    acc += s[(l * (c & 31)) & 1023];
    for (unsigned i = 0; i < (bin[l & 7] & 3); i++) acc += s[(l * sum + i * 33) & 1023];
    if (bin[32] & (1u << (l & 15))) s[(l * bin[33]) & 1023] = acc;
    __syncwarp();
    acc += s[(bin[(c + l) & 15] * 16 + l) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
