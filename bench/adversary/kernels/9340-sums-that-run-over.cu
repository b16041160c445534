// launch 1 32 n=4294967295
// launch 1 61 n=3221225472
// launch 2 64 n=65537
// Overflow on purpose: carries detected by comparison decide activity; ones' complement checksums, 96-bit counters, ring indices below zero, Adler sums.
extern "C" __global__ void k9340(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned big[64][3]; __shared__ unsigned short w[128];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    big[t][0] = n - t * 0x03000000u; big[t][1] = ~0u - (t & 3); big[t][2] = t;
    for (unsigned k = t; k < 128; k += T) w[k] = (unsigned short)(k * 521 + n);
    __syncthreads();
    unsigned a = big[t][0], b = t * 0x05000000u + 0x01000001u, sum = a + b;
    if (sum < a) acc += s[(sum >> 20) & 1023]; else s[(t * 8) & 1023] = acc;
    unsigned c0 = big[t][0] + 0x80000000u, carry = c0 < 0x80000000u, c1 = big[t][1] + (t & 7) + carry;
    carry = c1 < (t & 7) + carry || (carry && c1 == 0); unsigned c2 = big[t][2] + carry;
    acc += s[(c2 * 32 + (c1 & 15)) & 1023];
    acc += s[(c0 >> 22)];
    unsigned check = 0; for (unsigned i = 0; i < 9; i++) check += w[(t * 3 + i) & 127];
    check = (check & 0xFFFF) + (check >> 16); check = ~(check + (check >> 16)) & 0xFFFF;
    acc += s[check & 1023];
    unsigned lo = 1, hi = 0; for (unsigned i = 0; i <= (t & 7); i++) { lo = (lo + (w[(t + i) & 127] & 255)) % 65521; hi = (hi + lo) % 65521; acc += s[(hi * 2 + lo) & 1023]; }
    unsigned head = t - 20; int behind = (int)(head - n);
    acc += s[head & 1023];
    if (behind < 0) acc += s[(unsigned)(-behind) & 1023]; else if ((unsigned)behind > 0x7FFFFF00u) s[(unsigned)behind * 2 & 1023] = acc;
    unsigned char ring = (unsigned char)(t * 9 + n); for (unsigned i = 0; i < 4; i++) { ring = (unsigned char)(ring - 77); acc += s[ring * 4]; }
    unsigned long long p = (unsigned long long)a * b; bool over = p >> 32 != 0; if (over) acc += s[(unsigned)(p >> 54)]; else acc += s[a * b & 1023];
    unsigned steps = 0; for (unsigned x = 0xFFFFFFFFu - t * 3; x > 100; x += 7) { s[(x * 16) & 1023] = steps; steps++; }
    acc += s[(steps * 31 + t) & 1023];
    int product = (int)(t + 46330) * 46341; if (product < 0) acc += s[(unsigned)(product >> 8) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
