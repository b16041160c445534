// launch 1 32 n=2
// launch 1 64 n=4
// ldmatrix of all shapes from rows swizzled by XOR and rows padded by eight halves; loaded fragments are addresses again.
#define LDSM4(d, a) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a))
#define LDSM2T(d, a) asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(a))
#define LDSM1(d, a) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(a))
extern "C" __global__ void k9735(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned short A[32 * 64], B[32 * 72];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0, d[4], e[2], g;
    for (unsigned i = t; i < 2048; i += T) { unsigned r = i / 64, c = i % 64; A[r * 64 + ((c >> 3 ^ r & 7) << 3 | c & 7)] = i & 1023; B[r * 72 + c] = i * 5 & 1023; }
    __syncthreads();
    unsigned a = (unsigned)__cvta_generic_to_shared(A), b = (unsigned)__cvta_generic_to_shared(B);
    for (unsigned k = 0; k < n; k++) {
        unsigned r = (l & 15) + w % 2 * 16, c = k * 2 + (l >> 4);
        LDSM4(d, a + r * 128 + ((c ^ r & 7) << 4)); acc += d[0] + d[3];
        LDSM4(d, a + r * 128 + (c << 4)); acc += d[1];
        LDSM2T(e, b + (l & 15) * 144 + k * 16); acc += e[1];
        LDSM1(g, b + (l & 7) * 144 * (k + 1) % 4608 + k * 16); acc += B[g & 1023] + A[(d[2] >> 16) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
