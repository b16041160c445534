// launch 1 32 n=1
// launch 1 64 n=1
// A number-theoretic transform modulo 3329: Barrett and Montgomery products, signed 16-bit storage, zetas by bit reversal.
__device__ short barrett(int a) { int q = (20159 * a + (1 << 25)) >> 26; return a - q * 3329; }
__device__ short mont(int a) { short u = (short)(a * -3327); return (a - (int)u * 3329) >> 16; }
extern "C" __global__ void k9723(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ short r[256], zeta[128];
    for (unsigned i = t; i < 128; i += T) { int e = __brev(i) >> 25, z = 2285; for (int k = 0; k < e; k++) z = z * 17 % 3329; zeta[i] = z > 1664 ? z - 3329 : z; }
    for (unsigned i = t; i < 256; i += T) r[i] = (short)(src[i * 3] % 3329);
    __syncthreads();
    for (unsigned len = 128, k = n; len >= 2; len >>= 1) {
        for (unsigned i = t; i < 128; i += T) {
            unsigned g = i / len, j = g * 2 * len + i % len;
            short x = mont(zeta[k + g] * r[j + len]);
            r[j + len] = r[j] - x; r[j] = r[j] + x;
        }
        k += 128 / len;
        __syncthreads();
    }
    for (unsigned i = t; i < 256; i += T) { int v = barrett(r[i]); acc += s[(v < 0 ? v + 3329 : v) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
