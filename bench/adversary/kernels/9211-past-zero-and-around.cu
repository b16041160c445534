// launch 1 32 n=3
// launch 2 64 n=250
// launch 1 35 n=65530
// Counters of 8, 16, 32 and 64 bits, signed and unsigned, that count down past zero or around; the trips depend on the width.
extern "C" __global__ void k9211(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    for (int i = (int)(l & 7); i >= -(int)(l & 1); i -= 2) acc += s[(l * 2 + i) & 1023];
    for (unsigned i = l & 7; i < 8; i -= 3) s[(l * 4 + i) & 1023] = i;
    for (unsigned char c = (unsigned char)(n + l); c > 3 && c < 252; c = (unsigned char)(c * 2 + 1)) acc += s[(l + c * 32) & 1023];
    unsigned trips = 0;
    for (unsigned short h = (unsigned short)(65520 + l); h >= 65520; h++) { trips++; if (h & 1) acc += s[(l * 3 + trips) & 1023]; }
    s[(l * trips) & 1023] = acc;
    for (signed char c = (signed char)(120 + (l & 3)); c > 0; c = (signed char)(c + 2)) s[(l * 8 + c) & 1023] = 3;
    for (unsigned long long z = 0xFFFFFFFEull + (l & 1); z < 0x100000003ull; z++) acc += s[(l * (unsigned)z) & 1023];
    unsigned u = (l & 3) << 30;
    do { acc += s[(l * 5 + u) & 1023]; u += 0x40000001u; } while (u > 0x40000000u);
    s[(l * (u & 7)) & 1023] = 1;
    for (long long v = (long long)(l & 3) - 2; v * v < 9; v -= 1 + (v < 0)) acc += s[(l + (unsigned)(v & 31) * 33) & 1023];
    for (unsigned i = n; i-- > n - 3 && i + 1 != 0;) acc += q[(l * (i & 15)) & 1023];
    for (unsigned p = 1u << (l & 3); p; p <<= 7) s[(l * (p & 63)) & 1023] = p;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
