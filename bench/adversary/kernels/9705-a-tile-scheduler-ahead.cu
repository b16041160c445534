// launch 1 64 n=5
// launch 1 96 n=8
// A persistent block draws the next tile while it works on this one, through two slots; the tile is decoded by divisions.
extern "C" __global__ void k9705(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ int slot[2];
    if (t == 0) slot[0] = atomicAdd(&out[0], 1);
    __syncthreads();
    for (unsigned it = 0;; it ^= 1) {
        int tile = slot[it];
        if (tile >= (int)n) break;
        if (t == T - 1) slot[it ^ 1] = atomicAdd(&out[0], 1);
        int rows = 3, band = tile / (rows * 2), row = tile % rows + band * rows, col = tile / rows % 2;
        acc += s[(t * (row + 1) + col * 32) & 1023];
        if (col) { s[(t * 3 + row) & 1023] = tile; }
        __syncthreads();
        acc += s[((t >> col) + (t & ((1 << row) - 1)) * 32) & 1023];
    }
    acc += s[(l * slot[0]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
