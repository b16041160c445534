// launch 1 64 n=5
// launch 1 32 n=3
// Reed-Solomon: logarithms of GF(256) in shared memory, products by sums of logarithms modulo 255, a zero that has none.
extern "C" __global__ void k9741(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned char power[512], lg[256];
    if (t == 0) { unsigned x = 1; for (unsigned i = 0; i < 255; i++) { power[i] = power[i + 255] = x; lg[x] = i; x <<= 1; if (x & 256) x ^= 0x11d; } lg[0] = 0; }
    __syncthreads();
    unsigned code = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned a = src[t * 3 + k] & 255, b = (t + k) & 255, product = a && b ? power[lg[a] + lg[b]] : 0;
        code ^= product;
        acc += s[product * 4];
    }
    acc += s[(code * l) & 1023] + s[(255 - lg[code | 1]) % 255];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
