// launch 1 64 n=1
// launch 1 96 n=4
// __syncthreads and __syncwarp in functions called from several places, from loops, by whole warps.
__device__ __noinline__ unsigned step(unsigned* s, unsigned t, unsigned i) {
    unsigned v = s[(t * 2 + i) & 1023];
    __syncthreads();
    if (t & 1) s[(t + i * 3) & 1023] = v; else if (t & 2) v += s[(t * 4) & 1023];
    __syncthreads();
    return v & 7;
}
__device__ __noinline__ unsigned part(unsigned* s, unsigned t, unsigned mask) {
    if ((t & 7) == 2) return 3;
    s[(t * 5) & 1023] = 1;
    __syncwarp(mask & ~0x04040404u);
    return s[(t * 3) & 1023] & 3;
}
extern "C" __global__ void k9029(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    for (unsigned i = 0; i < n; i++) { acc += step(s, t, i); s[(t * 6 + i) & 1023] = acc; }
    if ((t >> 5) == 1) acc += part(s, t, 0xFFFFFFFFu); else if ((t >> 5) == 0) { if (t & 16) acc += part(s, t, 0xFFFF0000u); else acc += part(s, t + 32, 0xFFFFu); }
    acc += step(s, t, 9);
    s[(t * 7) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
