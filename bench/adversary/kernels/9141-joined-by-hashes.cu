// launch 1 32 n=3
// launch 1 64 n=5
// launch 2 53 n=1
// A hash join: eight lanes build partitions of the table by linear probing, all probe; matches compacted in order of lanes, then fetched.
extern "C" __global__ void k9141(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned key[8 * 33], payload[8 * 33], matched[64], s[1024], counts[2];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 264; k += size) key[k] = ~0u;
    if (t < 64) matched[t] = 0;
    __syncthreads();
    if (t < 8) {  // lane t inserts its keys: chains of different lengths
        for (unsigned k = 0; k < 16 + t; k++) {
            unsigned x = (src[(k * 17 + t) & 2047] * 8 + t) & 1023, h = (x >> 3) * n % 32, i = 0;
            while (i < 31 && key[t * 33 + ((h + i) & 31)] != ~0u && key[t * 33 + ((h + i) & 31)] != x) i++;
            unsigned at = t * 33 + ((h + i) & 31);
            key[at] = x;
            payload[at] = k * 5 + t;
        }
    }
    __syncthreads();
    unsigned wanted = (src[t * 21 & 2047] * 8 + t * 5) & 1023, part = wanted & 7, h = (wanted >> 3) * n % 32;
    unsigned at = part * 33 + h, probes = 0;
    bool found = false;
    while (probes < 32) {
        unsigned x = key[at];
        if (x == wanted) { found = true; break; }
        if (x == ~0u) break;
        probes++;
        at = part * 33 + ((h + probes) & 31);
    }
    s[(probes * 32 + l) & 1023] = wanted;
    unsigned left = size - (t & ~31u), mask = left >= 32 ? ~0u : (1u << left) - 1;
    unsigned hits = __ballot_sync(mask, found), rank = __popc(hits & ((1u << l) - 1));
    if (l == 0) counts[w] = __popc(hits);
    __syncthreads();
    unsigned base = w ? counts[0] : 0, total = counts[0] + (size > 32 ? counts[1] : 0);
    if (found) matched[base + rank] = payload[at] << 8 | t;
    __syncthreads();
    for (unsigned k = t; k < total; k += 16) acc += s[((matched[k] >> 8) * 4 + (matched[k] & 255)) & 1023];
    acc += s[(total * t) & 1023];
    s[(probes * t) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
