// launch 1 32 n=16
// launch 1 64 n=24
// launch 2 33 n=40
// SHA-256: a schedule of 16 words per lane, circular, in columns or rows by the warp, constants computed from primes; the digest is an address.
#define TURN(v, k) ((v) >> (k) | (v) << (32 - (k)))
extern "C" __global__ void k9153(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned w[64 * 17], constant[64], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 64; k += size) {
        unsigned p = 2 + k, c = 1;
        for (unsigned b = 0; b < 5; b++) c = c * p + (p >> b & 1);
        constant[k] = c * 0x9E3779B1u;
    }
    for (unsigned k = t; k < 64 * 17; k += size) w[k] = k * 3;
    __syncthreads();
    bool columns = t >= 32;
    unsigned step = columns ? 64 : 1, base = columns ? t : t * 17 - (t & 1);  // rows at odd and even starts
    if (base + 15 * step >= 64 * 17) base = 0;
    for (unsigned k = 0; k < 16; k++) if (!columns) w[base + k] = src[t * 16 + k] * 0x01010101u;
    __syncthreads();
    if (columns) for (unsigned k = 0; k < 16; k++) w[base + k * step] ^= src[t + k * 64] * 0x10001u;
    __syncthreads();
    if (columns && n > 30) { base = 1040 + (t & 7); step = 1; }
    unsigned h[8];
#pragma unroll
    for (unsigned k = 0; k < 8; k++) h[k] = 0x6a09e667u * (k + 1) ^ t;
    if (t < 32 || size == 33)
        for (unsigned i = 0; i < n; i++) {
            unsigned x = w[base + (i & 15) * step];
            if (i >= 16) {
                unsigned a = w[base + ((i - 15) & 15) * step], b = w[base + ((i - 2) & 15) * step];
                x += (TURN(a, 7) ^ TURN(a, 18) ^ a >> 3) + w[base + ((i - 7) & 15) * step] + (TURN(b, 17) ^ TURN(b, 19) ^ b >> 10);
                if (!columns && !(t & 1)) w[base + (i & 15) * step] = x;
            }
            unsigned one = h[7] + (TURN(h[4], 6) ^ TURN(h[4], 11) ^ TURN(h[4], 25)) + (h[4] & h[5] ^ ~h[4] & h[6]) + constant[i & 63] + x;
            unsigned two = (TURN(h[0], 2) ^ TURN(h[0], 13) ^ TURN(h[0], 22)) + (h[0] & h[1] ^ h[0] & h[2] ^ h[1] & h[2]);
#pragma unroll
            for (unsigned k = 7; k; k--) h[k] = h[k - 1];
            h[4] += one;
            h[0] = one + two;
            if ((i & 7) == 7) acc += s[h[0] >> 22];
        }
    acc += s[h[4] & 1023];
    if ((h[1] & 7) < 5) s[(h[2] >> 3) & 1023] = h[3];
    acc += constant[h[5] >> 26] + s[(h[6] * 4) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
