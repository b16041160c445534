// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 33 n=2
// Warp-synchronous code: lanes store indices that others load, ordered only by __syncwarp of parts of the warp.
extern "C" __global__ void k9009(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], at[96];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, base = t & ~31u;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned all = __activemask(), count = __popc(all);
    at[t % 96] = (l * 5 + n) & 31;
    __syncwarp(all);
    unsigned i = at[(base + (l ^ 1) % count) % 96];
    acc += s[(i * 32 + l) & 1023];
    __syncwarp(all);
    if (l < count / 2) at[(base + l) % 96] = i * 3 & 63;
    __syncwarp(all);
    i = at[(base + l / 2) % 96];
    acc += s[(i * 16) & 1023];
    __syncwarp(all);
    for (unsigned d = 1; d < 32; d <<= 1) {
        unsigned v = l >= d ? at[(base + l - d) % 96] : 0;
        __syncwarp(all);
        at[(base + l) % 96] = (at[(base + l) % 96] + v) & 255;
        __syncwarp(all);
    }
    s[(at[(base + l) % 96] * 4) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
