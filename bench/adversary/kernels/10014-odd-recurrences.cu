// launch 1 64 n=1
// launch 2 96 n=700
// launch 3 48 n=4095
// Counters that grow by 3x+1, by Fibonacci, by steps read in shared memory (that the loop itself changes), that wrap at 8 bits, shift themselves to nothing, follow Collatz, a shift register or a Gray code; two recurrences interleaved.
extern "C" __global__ void k10014(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], step[16], own[96 * 2];
    const unsigned t = threadIdx.x, lane = t & 31;
    const unsigned v = src[(t * 11 + n) & 4095], u = src[n & 4095];
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 19;
    if (t < 16) step[t] = src[(t * 5 + n) & 4095] & 7;
    own[t] = v & 3;
    own[t + 96] = 1;
    __syncthreads();
    unsigned x = v & 15;
    for (unsigned i = 0; i < 6 + (n & 3); i++) { acc += s[(lane * x) & 1023]; x = x * 3 + 1; }
    acc += s[x & 1023];
    if (!(x & 1)) acc += s[lane * 32];
    x = u & 1;
    for (unsigned i = 0; i < 7; i++) { acc += s[(lane << (x & 7)) & 1023]; x = x * 3 + 1; }
    unsigned a = 1, b = lane;
    for (unsigned i = 0; i < 9 + (u & 1); i++) {
        const unsigned c = a + b;
        a = b;
        b = c;
        acc ^= s[(b * 32 + a) & 1023];
    }
    unsigned even = 0, odd = 1;
    for (unsigned i = 0; i < (v & 7); i++) {
        const unsigned e = even;
        even = odd * 2;
        odd = e + 3;
        acc += s[(even * lane + odd * 32) & 1023];
    }
    acc += s[even * 32 & 1023] + s[(odd & 31) * 32];
    if (even & 1) acc += s[lane * 32 + 1];
    if (!(odd & 1)) acc += s[lane * 16 + 1];

    for (unsigned i = 0; i < 90; i += step[i & 15] + 1) acc += s[(lane * i) & 1023];
    for (unsigned i = lane; i < 150; i += step[(i >> 2) & 15] * 2 + 1) acc ^= s[i * 32 & 1023];
    for (unsigned i = 0; i < 60; i += own[t] + 1) {
        acc += s[(i * 32 + lane) & 1023];
        if (i & 4) own[t] = own[t + 96] + (i & 3);
        else own[t + 96] = (own[t] * 5 + 1) & 7;
    }
    acc += s[own[t] * 32] + s[own[t + 96] * 32];

    unsigned char c = (unsigned char)v;
    do {
        acc += s[c * 4];
        c += 40;
    } while (c != (unsigned char)v);
    for (unsigned char d = (unsigned char)(lane * 8); d >= 7 || d == 0; d -= 5) acc ^= s[d * 4];
    for (unsigned y = v | 1; y; y <<= 3) acc += s[(y >> 5 & 31) * 32];
    for (unsigned y = n; y; y /= 3) acc += s[(y & 31) * lane];
    for (int y = (int)v - 512; y; y /= 3) acc += s[(unsigned)(y + 512) & 1023];
    for (unsigned y = blockDim.x / 2; y; y >>= 1) if (t < y) acc += s[(t + y) * y & 1023];
    unsigned z = v % 50 + 1;
    for (unsigned i = 0; z != 1 && i < 25; i++) {
        z = z & 1 ? z * 3 + 1 : z / 2;
        acc += s[z * 32 & 1023];
    }
    if (z == 1) acc += s[lane * 32 + 2];
    unsigned reg = (v & 31) | 1;
    for (unsigned i = 0; i < 20; i++) {
        reg = (reg >> 1) ^ (0 - (reg & 1) & 0x14);
        acc += s[reg * 32];
    }
    if (reg == 0) acc += s[lane * 32 + 3];
    for (unsigned i = u & 7; i < 16; i++) acc += s[(i ^ i >> 1) * lane & 1023];
    unsigned lo = 0, hi = 1024;
    while (hi - lo > 1) {
        const unsigned mid = (lo + hi) / 2;
        if (s[mid] > v * 19) hi = mid; else lo = mid;
    }
    acc += s[lo] + s[1023 - lo];
    for (unsigned i = 1, k = 0; i < 1024; i += ++k * (1 + (v & 1))) acc += s[i];
    for (unsigned i = 0, j = 31; i < j; i += 1 + (v & 1), j -= 1 + (u & 1)) acc ^= s[(j - i) * 32] + s[(j * 32 + i) & 1023];
    for (unsigned p = 1, i = 0; i < (u & 15); i++, p = p * 5 & 31) acc += s[p * lane];
    for (unsigned g = 1; g < n + 2; g = g * 2 + (g & 3)) acc += s[(g * lane) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
