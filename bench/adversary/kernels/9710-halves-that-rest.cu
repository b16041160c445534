// launch 1 64 n=48
// launch 1 96 n=70
// Reductions whose threads retire by return, with a volatile last warp and templates by block size that are chosen at run time.
template <unsigned B> __device__ void lastwarp(volatile unsigned* a, unsigned t) {
    if (B >= 64) a[t] += a[t + 32];
    if (B >= 32) a[t] += a[t + 16];
    if (B >= 16) a[t] += a[t + 8];
    a[t] += a[t + 4]; a[t] += a[t + 2]; a[t] += a[t + 1];
}
template <unsigned B> __device__ void reduce(unsigned* a, unsigned t) {
    if (B >= 128) { if (t < 64) a[t] += a[t + 64]; __syncthreads(); }
    if (t < 32) lastwarp<B>(a, t);
}
extern "C" __global__ void k9710(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    switch (n > 64 ? 128 : n > 32 ? 64 : 32) { case 128: reduce<128>(s, t); break; case 64: reduce<64>(s, t); break; default: reduce<32>(s, t); }
    __syncthreads();
    if (t >= n) return;
    acc += s[(t * 32) & 1023];
    unsigned m = __activemask();
    acc += s[(__popc(m) * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
