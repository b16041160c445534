// launch 1 32 n=5
// launch 1 64 n=11
// Loops whose counters wrap around 32, 16 and 8 bits, end by != or by a sign, or are shared between two loops.
extern "C" __global__ void k9790(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    for (unsigned i = 0xffffffd0u; i != 16 * n; i += 16) acc += s[(i + t) & 1023];
    for (int i = (int)n; i >= 0; i = i * 3 / 4 - 1) acc += s[(i * 32 + l) & 1023];
    for (short h = 32000; h > 0; h += 100 * n) acc += s[(h + l * 4) & 1023];
    for (unsigned i = 1; i; i <<= n) acc += s[(i + l * 2) & 1023];
    for (unsigned i = 1u << 31; i > n; i >>= 3) acc += s[(i * l) & 1023];
    unsigned i = 0; for (; i < n; i++) acc += s[(i * 8 + l) & 1023]; for (; i < 3 * n; i += 2) acc += s[(i * 16 + l) & 1023];
    for (long long k = -(long long)n; k < (long long)l - 8; k += 5) acc += s[(unsigned)(k * 4) & 1023];
    for (float x = 0.f; x < 2.f; x += 0.3f) acc += s[(unsigned)(x * 10) * 32 + l & 1023];
    for (unsigned a = 0, b = n * 4; a < b; a += 2, b -= 1) acc += s[(a * 33 + b * l) & 1023];
    for (unsigned a = l, b = 12; b; ) { unsigned r = a % b; a = b; b = r; acc += s[(a * 32 + b) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
