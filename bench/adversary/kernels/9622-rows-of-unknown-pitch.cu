// launch 1 64 n=33
// launch 2x2 16x4 n=40
// launch 1 24 n=7
// launch 2 32 n=96
// Loops over rows whose pitch is a parameter: up, down, two rows a trip, columns, tiles, odd and even pitches.
extern "C" __global__ void k9622(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, acc = 0;
    for (unsigned r = 0; r < 6; r++) acc += src[r * n + x];
    for (int r = 8; r >= 0; r -= 2) acc += src[r * n + x] ^ src[(r + 1) * (int)n + (int)x];
    for (unsigned r = y; r < 10; r += blockDim.y) acc += src[r * n + x * 2] + ((const unsigned char*)src)[r * n + x];
    for (unsigned r = 0; r < 4; r++) acc += src[x % 24 * n + r] + ((const uint2*)src)[(r * n >> 1) + x].x;
    const unsigned* p = src + y * n; for (unsigned r = 0; r < 3; r++, p += n) acc += p[x] + p[-(int)x + 40];
    unsigned pitch = (n + 31) / 32 * 32; for (unsigned r = 0; r < 5; r++) acc += src[r * pitch + x];
    for (unsigned r = 0; r < 3; r++) out[(y * 3 + r) * n + x] = acc + r;
    const char* q = (const char*)src; for (unsigned r = 0; r < 4; r++) acc += *(const unsigned short*)(q + (size_t)r * n * 2 + x * 2);
    out[8192 + y * 96 + x] = acc;
}
