// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 48 n=3
// Halves of a warp with __syncwarp of their own masks in loops of unlike length; words from the other half, ordered or not.
extern "C" __global__ void k9519(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[64];
    box[t & 63] = l;
    __syncthreads();
    unsigned mask = l < 16 ? 0xffffu : 0xffff0000u, base = t & 32, v = l;
    mask &= __ballot_sync(__activemask(), 1);
    for (unsigned k = 0; k < (l < 16 ? 2u : 3u) + (n & 1); k++) {
        box[base + l] = v & 31;
        __syncwarp(mask);
        v = box[base + (l ^ 1)] + 3 + k;
        __syncwarp(mask);
        acc += s[(v * 4 + k) & 1023];
        if (v & 1) s[(l * 2 + k) & 1023] = v;
    }
    unsigned other = box[base + (l ^ 16)];
    acc += s[(l + (other & 1) * 32) & 1023];
    __syncwarp();
    unsigned sure = box[base + ((l ^ 16) & (T - 1))];
    acc += s[(sure * 8) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
