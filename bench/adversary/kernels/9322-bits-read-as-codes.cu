// launch 1 32 n=11
// launch 1 20 n=3
// launch 2 64 n=58
// A reader of variable-length codes: 64 bits assembled by funnel shifts from a stream in shared memory, unary prefixes, Exp-Golomb and Huffman by table.
__constant__ unsigned char huff[16] = {0x13, 0x13, 0x13, 0x13, 0x13, 0x13, 0x13, 0x13, 0x24, 0x24, 0x24, 0x24, 0x35, 0x35, 0x46, 0x47};
__device__ __forceinline__ unsigned peek(const unsigned* w, unsigned at) { return __funnelshift_l(w[(at >> 5) + 1], w[at >> 5], at); }
extern "C" __global__ void k9322(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned stream[130];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 130; k += T) stream[k] = (k + n) * 0x85EBCA6Bu ^ 0x27D4EB2Fu * k;
    __syncthreads();
    unsigned at = t * 50, value = 0;
    for (unsigned i = 0; i < 5; i++) {
        unsigned bits = peek(stream, at), zeros = (unsigned)__clz((int)(bits | 0x00FF0000u));
        value = (bits << zeros) >> (31 - zeros);
        at += 2 * zeros + 1;
        acc += s[(value * 4 + i) & 1023];
    }
    acc += s[at & 1023];
    unsigned sum = 0;
    while (at < t * 50 + 150 && sum < 60) {
        unsigned h = huff[peek(stream, at) >> 28];
        at += h >> 4; sum += h & 15;
        if ((h & 15) > 4) acc += s[(sum * 16 + (at & 15)) & 1023];
    }
    s[(sum * 8 + t) & 1023] = acc;
    unsigned long long two = (unsigned long long)peek(stream, at) << 32 | peek(stream, at + 32);
    acc += s[(unsigned)(two >> (t & 31)) & 1023];
    unsigned r = __funnelshift_rc(stream[t], stream[t + 1], t + 8), c = __funnelshift_lc(stream[t + 1], stream[t], 40 - t);
    acc += s[(r ^ c >> 3) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
