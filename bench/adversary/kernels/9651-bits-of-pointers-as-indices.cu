// launch 1 64 n=2
// launch 2 32 n=5
// Bits of pointers decide where shared memory is accessed: above the alignment, below it, and of sums.
extern "C" __global__ void k9651(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048]; unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned i = t; i < 2048; i += blockDim.x) s[i] = i; __syncthreads();
    size_t p = (size_t)out, q = (size_t)src; acc += s[(p & 255) + t]; acc += s[((p >> 8) & 1) * t]; acc += s[((q >> 9) & 3) * 16 + (t & 15)];
    acc += s[(((size_t)(src + t) >> 2) & 63) * 2]; acc += s[(((size_t)(out + t * n) >> 4) & 31) * 32]; acc += s[((p ^ q) & 7) * 4 + t];
    acc += s[(p > q ? t : t * 2)]; acc += s[(((p + 64) / 96) & 7) * t]; out[g] = acc;
}
