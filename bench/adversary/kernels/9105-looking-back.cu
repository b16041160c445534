// launch 1 32 n=3
// launch 1 96 n=5
// launch 2 70 n=40
// The look-back of a decoupled scan: tiles with aggregates or prefixes, walked by single lanes and by windows of a warp.
extern "C" __global__ void k9105(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned tile[128], s[1024], found[128];
    unsigned t = threadIdx.x, l = t & 31, size = blockDim.x, acc = 0, own = src[t * 5 & 2047] & 15;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    unsigned status = t == 0 || (t * t + 1) % n == 2 ? 2u : 1u;
    tile[t] = status << 30 | (status == 2 ? own + t * 3 : own);
    __syncthreads();
    unsigned sum = 0;
    if (t) {
        unsigned j = t;
        for (;;) {
            unsigned d = tile[--j];
            sum += d & 0x3fffffff;
            if (d >> 30 == 2) break;
            s[(j * 32 + l) & 1023] = sum;  // stays in the bank of its lane
        }
        found[t] = t - j;
    } else found[0] = 0;
    acc += s[(sum * 2) & 1023];
    __syncthreads();
    unsigned left = size - (t & ~31u), mask = left >= 32 ? ~0u : (1u << left) - 1, lanes = __popc(mask);
    unsigned first = t & ~31u, prefix = 0;  // of the warp
    bool going = first > 0;
    while (going) {
        int at = (int)first - 1 - (int)l;
        unsigned d = at >= 0 ? tile[at] : 2u << 30;
        unsigned stops = __ballot_sync(mask, d >> 30 == 2);
        unsigned last = stops ? __ffs(stops) - 1 : lanes - 1;
        unsigned part = l <= last ? d & 0x3fffffff : 0;
        for (unsigned k = 16; k; k >>= 1) { unsigned o = __shfl_down_sync(mask, part, k); if (l + k < lanes) part += o; }
        prefix += __shfl_sync(mask, part, 0);
        going = !stops;
        first -= min(first, lanes);
        if (first == 0) going = false;
        acc += s[(l * (last + 1)) & 1023];
    }
    acc += s[(prefix + l * 3) & 1023];
    acc += s[(found[size - 1 - t] * l) & 1023];
    s[(found[t] * 33 + prefix) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
