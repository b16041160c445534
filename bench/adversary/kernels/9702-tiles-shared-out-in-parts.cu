// launch 4 64 n=5
// launch 3 32 n=7
// launch 5 48 n=2
// Stream-K: each block works on a contiguous share of all steps, which begins and ends inside of tiles.
extern "C" __global__ void k9702(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned tiles = n, depth = 6, all = tiles * depth, per = (all + gridDim.x - 1) / gridDim.x;
    unsigned step = blockIdx.x * per, end = min(step + per, all);
    while (step < end) {
        unsigned tile = step / depth, k = step - tile * depth, stop = min(depth, k + (end - step));
        unsigned first = k;
        for (; k < stop; k++) acc += s[((t ^ k) * (tile + 1)) & 1023];
        bool opens = first == 0, closes = stop == depth;
        if (!opens) { __syncthreads(); s[(t * 2 + tile) & 1023] = acc & 1023; }
        else if (!closes) { acc += s[(l * 8 + tile * 64) & 1023]; }
        else acc += s[(l * 16 + w) & 1023];
        __syncthreads();
        step += stop - first;
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
