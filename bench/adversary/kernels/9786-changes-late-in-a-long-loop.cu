// launch 1 32 n=9000
// launch 1 64 n=4097
// Loops of thousands of trips whose pattern changes late, seldom, or with a long period.
extern "C" __global__ void k9786(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned x = 1, y = t;
    for (unsigned i = 0; i < n; i++) acc += s[((i >> 10) * l) & 1023];
    for (unsigned i = 0; i < n; i++) if ((i & 511) == 77 || i > 4090) acc += s[(i * l) & 1023];
    for (unsigned i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; acc += s[(l * (x & 7)) & 1023]; }
    for (unsigned i = 0; i < n / 8; i++) { y = y * 5 + 3; acc += s[(y >> 3) & 1023]; if (i == 500) y = l; }
    for (unsigned i = 0; i * i < n * 64; i++) acc += s[(i * i * l) & 1023];
    for (unsigned i = n; i; i -= (i & 1) ? 1 : 2) acc += s[((i % 1000 == 0) * 31 * l + l) & 1023];
    unsigned char c = 0; for (unsigned i = 0; i < n / 4; i++) { acc += s[(c * 4 + l) & 1023]; c += 3; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
