// launch 1 32 n=3
// launch 1 64 n=11
// launch 2 48 n=17
// Montgomery products modulo 12289 and modulo a 32-bit prime, powers, a number-theoretic transform of 64 points in place: its values are addresses later.
__device__ __forceinline__ unsigned redc(unsigned x) { unsigned q = (x & 0xFFFF) * 12287u & 0xFFFF, r = (x + q * 12289u) >> 16; return r >= 12289 ? r - 12289 : r; }
__device__ __forceinline__ unsigned mont(unsigned a, unsigned b) { unsigned long long p = (unsigned long long)a * b; unsigned q = (unsigned)p * 0x07FFFFFFu * 0x1Fu; unsigned r = (unsigned)(p >> 32) - __umulhi(q, 4293918721u); return (unsigned)(p >> 32) < __umulhi(q, 4293918721u) ? r + 4293918721u : r; }
extern "C" __global__ void k9349(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned short a[64], root[32];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 64; k += T) a[k] = (unsigned short)((k * n * 77 + 5) % 12289);
    for (unsigned k = t; k < 32; k += T) { unsigned e = k, b = 563, p = 1; for (; e; e >>= 1) { if (e & 1) p = p * b % 12289; b = b * b % 12289; } root[k] = (unsigned short)(p * 65536u % 12289 ); }
    __syncthreads();
    for (unsigned half = 32; half; half >>= 1) {
        for (unsigned k = t; k < 32; k += T) {
            unsigned j = k & (half - 1), i = (k - j) * 2 + j, u = a[i], v = a[i + half];
            a[i] = (unsigned short)((u + v) % 12289);
            a[i + half] = (unsigned short)redc((u + 12289 - v) * root[j * (32 / half)]);
        }
        __syncthreads();
    }
    unsigned value = a[(t * 5) & 63];
    acc += s[value & 1023];
    acc += s[(a[__brev(t & 63) >> 26] >> 2) & 1023];
    if (value & 1) s[(value >> 3) & 1023] = acc; else acc += s[(value * 4) & 1023];
    unsigned e = t + n, b = 7, p = 1;
    while (e) { if (e & 1) { p = p * b % 12289; acc += s[(p >> 1) & 1023]; } b = b * b % 12289; e >>= 1; }
    unsigned big = mont(t * 0x10203041u + 1, 0xDEADBEEFu ^ n); acc += s[big >> 22]; acc += s[big & 1023];
    unsigned inverse = 1; for (unsigned i = 0; i < 5; i++) inverse *= 2 - (t * 2 + 1) * inverse;
    if (inverse * (t * 2 + 1) != 1) s[t & 1023] = 1; else s[(inverse >> 9) & 1023] = acc;
    acc += s[(inverse * value) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
