// launch 8 64 n=3
// launch 300 32 n=1
// Blocks read what other blocks write, before or after, in a buffer whose contents at the start are specified.
extern "C" __global__ void k9784(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned b = blockIdx.x, other = (b + 1) % gridDim.x;
    unsigned early = out[(other * T + t) & 2047];
    acc += s[(early * n) & 1023];
    unsigned v = src[(b * T + t) & 1023];
    out[(b * T + t) & 2047] = v & 255;
    __threadfence();
    __syncthreads();
    unsigned late = out[(other * T + t) & 2047], own = out[(b * T + (t ^ 1)) & 2047];
    acc += s[(late * 4) & 1023] + s[own & 1023];
    unsigned safe = out[3000 + t], nc = __ldg(src + 2048 + t);
    acc += s[(safe * 2) & 1023] + s[nc];
    if (b == gridDim.x + n) out[3000 + t] = 0;
    out[2048 + ((b * T + t) & 511)] = acc;
}
