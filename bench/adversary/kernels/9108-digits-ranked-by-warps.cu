// launch 1 32 n=2
// launch 1 96 n=4
// launch 2 64 n=3
// LSD radix sort: ranks within warps by match, counters per digit and warp, digits of n bits, scatter by rank.
extern "C" __global__ void k9108(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned keys[2][128], count[16 * 5], s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, warps = size / 32, acc = 0, in = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    keys[0][t] = (src[t] * 40503u >> 3) & 4095;
    unsigned digits = 1u << n;
    for (unsigned shift = 0; shift < 12; shift += n) {
        for (unsigned k = t; k < digits * warps; k += size) count[k] = 0;
        __syncthreads();
        unsigned key = keys[in][t], digit = (key >> shift) & (digits - 1);
        unsigned same = __match_any_sync(~0u, digit), rank = __popc(same & ((1u << l) - 1));
        if (rank == 0) count[digit * warps + w] = __popc(same);
        __syncthreads();
        if (t < 32) {  // exclusive scan of digits x warps counters by one warp
            unsigned carry = 0;
            for (unsigned base = 0; base < digits * warps; base += 32) {
                unsigned i = base + t, c = i < digits * warps ? count[i] : 0, x = c;
                for (unsigned d = 1; d < 32; d *= 2) { unsigned o = __shfl_up_sync(~0u, x, d); if (t >= d) x += o; }
                if (i < digits * warps) count[i] = carry + x - c;
                carry += __shfl_sync(~0u, x, 31);
            }
        }
        __syncthreads();
        unsigned place = count[digit * warps + w] + rank;
        keys[in ^ 1][place] = key;
        s[(place * 8 + digit) & 1023] = key;
        in ^= 1;
        __syncthreads();
    }
    unsigned key = keys[in][t];
    acc += s[key & 1023];
    if (t && keys[in][t - 1] == key) acc += s[(key * 4) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
