// launch 1 32 n=3
// launch 1 96 n=4
// launch 2 83 n=2
// Run-length encoding by heads, votes and prefix counts, then decoding by a search of offsets; lengths above n are split.
extern "C" __global__ void k9155(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char value[96], symbol[96];
    __shared__ unsigned short begin[100];
    __shared__ unsigned heads[3], s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, warps = (size + 31) / 32, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    unsigned left = size - (t & ~31u), mask = left >= 32 ? ~0u : (1u << left) - 1;
    value[t] = (unsigned char)((src[t * 2] * 5 >> 4) + (t % 17 == 3));
    __syncthreads();
    bool head = t == 0 || value[t] != value[t - 1];
    unsigned ballot = __ballot_sync(mask, head);
    if (l == 0) heads[w] = ballot;
    __syncthreads();
    int last = -1;  // the head of my run, maybe in an earlier warp
    unsigned mine = heads[w] & (2u << l) - 1;
    for (int k = (int)w; last < 0; mine = heads[--k]) if (mine) { last = k * 32 + 31 - __clz(mine); break; }
    bool start = head || (t - (unsigned)last) % (n + 1) == 0;
    __syncthreads();
    ballot = __ballot_sync(mask, start);
    if (l == 0) heads[w] = ballot;
    __syncthreads();
    unsigned index = __popc(ballot & ((1u << l) - 1)), runs = 0;
    for (unsigned k = 0; k < warps; k++) { if (k < w) index += __popc(heads[k]); runs += __popc(heads[k]); }
    if (start) { symbol[index] = value[t]; begin[index] = (unsigned short)t; }
    if (t == 0) begin[runs] = (unsigned short)size;
    __syncthreads();
    for (unsigned k = t; k < runs; k += size) {
        unsigned length = begin[k + 1] - begin[k];
        acc += s[(length * 32 + symbol[k]) & 1023];
        if (length > 1) s[(k * 8 + length) & 1023] = length;
    }
    unsigned low = 0, high = runs, item = (t * 7) % size;
    while (low + 1 < high) {
        unsigned middle = (low + high) / 2;
        if (begin[middle] <= item) low = middle; else high = middle;
    }
    acc += s[(low * 4 + item - begin[low]) & 1023];
    if (symbol[low] != value[item]) s[5] = 1;  // never
    acc += s[(runs * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
