// launch 1 32 n=3
// launch 1 64 n=4
// The distance of two buffers, its sign, remainders and bits.
extern "C" __global__ void k9652(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 2048; i += blockDim.x) s[i] = i; __syncthreads();
    long long d = (const unsigned*)out - src; acc += s[(d & 63) + t]; acc += s[(unsigned)((d % 3 + 3) % 3) * t]; acc += s[(d < 0 ? 1 : 2) * t];
    acc += s[((unsigned long long)d >> 6 & 3) * t]; acc += s[((unsigned)(d >> 32) & 1) * 8 + t]; const unsigned* r = src + t; acc += s[(r - src) * 4]; acc += s[(r + n - src) & 31];
    acc += s[(r < src + n ? t : 2 * t)]; acc += s[(out + t == (unsigned*)(src + t)) ? 0 : t * 8]; out[t] = acc;
}
