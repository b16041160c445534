// launch 1 32 n=3
// launch 1 70 n=255
// launch 2 64 n=4096
// CRC-32 by a table that the block makes, by a half-byte table, and bit by bit; products in GF(2^8) by logarithms; carry-less products and an LFSR.
extern "C" __global__ void k9350(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned crc[256]; __shared__ unsigned char log[256], power[512];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 256; k += T) { unsigned c = k; for (int i = 0; i < 8; i++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1; crc[k] = c; }
    if (t == 0) { unsigned x = 1; for (unsigned i = 0; i < 255; i++) { power[i] = power[i + 255] = (unsigned char)x; log[x] = (unsigned char)i; x = x << 1 ^ (x & 0x80 ? 0x11D : 0); } log[0] = 0; power[510] = power[511] = 1; }
    __syncthreads();
    unsigned c = ~n, d = ~n, word = t * 0x01234567u;
    for (unsigned i = 0; i < 4; i++) { c = crc[(c ^ word >> i * 8) & 255] ^ c >> 8; acc += s[c & 1023]; }
    d ^= word; for (unsigned i = 0; i < 32; i++) d = d >> 1 ^ (0xEDB88320u & -(d & 1));
    if (c == d) acc += s[(c >> 20) & 1023]; else s[t & 1023] = 1;
    unsigned a = (t * 7 + n) & 255, b = (t ^ 0x5A) & 255, prod = a && b ? power[log[a] + log[b]] : 0;
    acc += s[prod * 4];
    acc += s[(power[255 - log[a | 1]] * 3 + log[b]) & 1023];
    unsigned slow = 0; for (unsigned x = a, y = b; y; y >>= 1) { if (y & 1) slow ^= x; x = x << 1 ^ (x >> 7) * 0x11D; }
    if (slow == prod) s[(prod * 2 + 1) & 1023] = acc; else acc += s[t * 8 & 1023];
    unsigned long long clear = 0;
    for (unsigned i = 0; i < 12; i++) if (c >> i & 1) clear ^= (unsigned long long)d << i;
    acc += s[(unsigned)(clear >> 11) & 1023];
    unsigned lfsr = t * 3 + 1;
    for (unsigned i = 0; i < (n & 7) + 1; i++) { unsigned bit = __popc(lfsr & 0x2D) & 1; lfsr = (lfsr >> 1 | bit << 9) & 1023; if (bit) acc += s[lfsr]; else s[lfsr ^ 512] = acc; }
    unsigned degree = 31 - __clz((int)(c | 1)), m = c;
    while (m >> 8) { m ^= 0x11Bu << (31 - __clz((int)m) - 8); acc += s[(m ^ m >> 9) & 1023]; }
    acc += s[(m * 4 + degree) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
