// launch 4 64 n=2
// launch 7 96 n=1
// launch 1 33 n=3
// The block that comes last, by atomicInc that wraps, reduces the others' results; a block of a single warp is different.
extern "C" __global__ void k9704(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ bool last;
    unsigned v = 0;
    for (unsigned i = blockIdx.x * T + t; i < n * 200; i += T * gridDim.x) v += src[i] & 15;
    s[t] = v;
    __syncthreads();
    for (unsigned half = (T + 1) / 2, left = T; left > 1; left = half, half = (half + 1) / 2) {
        if (t < left - half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) { out[3000 + blockIdx.x] = s[0]; __threadfence(); last = atomicInc(&out[0], gridDim.x - 1) == gridDim.x - 1; }
    __syncthreads();
    if (last) {
        for (unsigned i = t; i < gridDim.x; i += T) s[(i * 17) & 1023] = i;
        __syncthreads();
        for (unsigned d = 1; d < gridDim.x; d *= 2) { if ((t & (2 * d - 1)) == 0 && t + d < gridDim.x) s[(t * 17) & 1023] += s[((t + d) * 17) & 1023]; __syncthreads(); }
    }
    out[(blockIdx.x * T + t + 64) & 2047] = acc;
}
