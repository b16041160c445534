// launch 1 32 n=4
// What is true of few pairs of addresses: that one buffer follows the other, that some bits have one value, remainders.
extern "C" __global__ void k9661(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; __syncthreads(); size_t p = (size_t)out, q = (size_t)src;
    acc += s[(src + 4096 == out || out + 4096 == src) ? t * 32 : t]; acc += s[((p >> 9) & 127) == 32 ? t * 16 : t]; acc += s[p % 7 == 3 ? t * 8 : t]; acc += s[(p - q) % 65536 == 16384 || (q - p) % 65536 == 16384 ? t * 4 : t];
    acc += s[(p >> 40) == 0x7f ? t * 2 : t]; acc += s[(p & 0xffff) < 512 ? t * 32 : t]; acc += s[__popcll(p) == 9 ? t * 16 : t]; out[t] = acc;
}
