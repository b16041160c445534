// launch 1 32 n=6
// launch 1 64 n=7
// launch 2 24 n=5
// A radix-2 FFT in integers modulo 257 (a number-theoretic transform): bit reversal of n bits, butterflies, spectra as addresses.
extern "C" __global__ void k9119(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[128], root[128], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, count = 1u << n, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    unsigned w = 3;  // a generator modulo 257
    for (unsigned k = n; k < 8; k++) w = w * w % 257;
    for (unsigned k = t; k < count; k += size) {
        a[__brev(k) >> (32 - n)] = src[k * 3] % 257;
        unsigned p = 1, b = w, e = k;
        while (e) { if (e & 1) p = p * b % 257; b = b * b % 257; e >>= 1; }
        root[k] = p;
    }
    __syncthreads();
    for (unsigned stage = 1; stage <= n; stage++) {
        unsigned half = 1u << (stage - 1);
        for (unsigned k = t; k < count / 2; k += size) {
            unsigned j = k & (half - 1), i = ((k - j) << 1) + j;
            unsigned u = a[i], v = a[i + half] * root[j << (n - stage)] % 257;
            a[i] = (u + v) % 257;
            a[i + half] = (u + 257 - v) % 257;
        }
        __syncthreads();
    }
    for (unsigned k = t; k < count; k += size) {
        acc += s[(a[k] * 4) & 1023];
        acc += s[(a[__brev(k) >> (32 - n)] + k * 32) & 1023];
    }
    __syncthreads();
    for (unsigned k = t; k < count; k += size)  // products of the spectrum with its mirror, at Gray codes
        s[(a[k] * a[(count - k) & (count - 1)] % 257 * 3) & 1023] = root[k ^ k >> 1];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
