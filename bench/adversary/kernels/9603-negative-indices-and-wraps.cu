// launch 1 64 n=7
// launch 1 39 n=4294967290
// launch 2 32 n=33
// Indices below zero, unsigned differences that wrap around, products that overflow 32 bits, shifts that drop bits.
extern "C" __global__ void k9603(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    int s = (int)t - 16; const unsigned* mid = src + 2048;
    acc += mid[s] + mid[-(int)g * 3] + mid[s * 5] + mid[-s];
    acc += src[(t - 5u) & 1023] + src[(t * 0x40000003u) >> 22] + src[(g * 0x10000001u) & 2047] + src[(unsigned)(g << 27) >> 24];
    acc += src[(unsigned char)(t * 5 - 100)] + mid[(signed char)(t * 7)] + mid[(short)(t * 0x1001)  >> 6];
    unsigned w = t + n;                        // wraps in some lanes
    acc += src[w & 4095] + src[(w - n) & 63] + (w < t ? src[t] : mid[t * 2]);
    acc += mid[(int)(n + t) % 64] + mid[((int)(t ^ n)) >> 26] + src[(n * t + 3u) & 511];
    long long far = (long long)s * -8; acc += *(const unsigned*)((const char*)mid + far);
    out[8192 - 3 * (int)g] = acc;
    out[(g * 0x20000001u >> 3 << 3 | (g & 7)) & 4095] = acc;
    *(out + 4096 + (int)(1 - t)) = acc;
}
