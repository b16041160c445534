// launch 1 64 n=3
// launch 1 32 n=8
// 64-bit indices with negative strides, unsigned minus one as a step, pointers one past an end, char differences, wraps of 16 bits.
extern "C" __global__ void k9770(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    long long step = -(long long)n; unsigned* end = s + 1024;
    acc += end[-1 - (long long)t * n] + end[step * (int)(t + 1)];
    unsigned minus = 0u - t; acc += (s + 512)[(int)minus] + s[(minus * 4) & 1023] + *(s + 700 + (ptrdiff_t)(int)(minus * 2));
    unsigned short h = (unsigned short)(t * 2000); signed char c = (signed char)(t * 5); acc += s[h & 1023] + s[c + 128] + s[(unsigned char)(c * 3) * 4];
    for (int i = 40; i >= 0; i -= n) acc += s[i * 8 + (l & 7)];
    for (unsigned i = n - 1; i != ~0u; i--) acc += s[(i * T + t) & 1023];
    for (unsigned char i = 250; i > 10; i += n) acc += s[(i * 4 + l) & 1023];
    const char* bytes = (const char*)(s + 1000); for (long long off = 0; off > -2000; off -= 600) acc += *(const unsigned*)(bytes + off - (long long)l * 12);
    size_t huge = (size_t)t * 0xfffffffffffffffcull; acc += *(unsigned*)((char*)(s + 64) + huge);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
