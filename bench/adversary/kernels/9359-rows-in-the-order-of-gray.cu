// launch 1 32 n=1
// launch 1 64 n=6
// launch 2 96 n=13
// stmatrix (also transposed) to rows swizzled by Gray codes, ldmatrix from rows whose numbers were just stored, halves of words decoded into new rows, three rounds.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9359(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(128) unsigned m[3][64 * 4]; __shared__ unsigned char rows[96];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0, a, b, c, d;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = l; k < 256; k += 32) m[w][k] = k * 0x00030001u & 0x003F003Fu;
    rows[t] = (unsigned char)((l ^ l >> 1) + (n & 31));
    __syncthreads();
    unsigned row = rows[w * 32 + (l * 5 + 1 & 31)] & 63;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(at(m[w] + row * 4)), "r"(l << 16 | (l ^ 3)), "r"((l + n & 63) | (63 - l) << 16), "r"(l * 2), "r"(l << 17 | 5) : "memory");
    __syncwarp();
    for (unsigned round = 0; round < 3; round++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at(m[w] + (row ^ round) * 4)) : "memory");
        acc += s[((a & 63) * 16 + (b >> 16)) & 1023];
        if (c & 1) s[(c * 4 + round) & 1023] = acc; else acc += s[(d >> 16 & 63) * 8];
        row = (row + (a >> 16) * 2 + round) & 63;
        asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at(m[w] + ((l & 7) * 7 + round & 63) * 4)), "r"((row & 63) | (l & 31) << 16) : "memory");
        __syncwarp();
    }
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at(m[w] + ((l & 15) * 3 & 63) * 4)) : "memory");
    acc += s[((a ^ a >> 11) & 63) * 16 + (b & 15)];
    unsigned word = m[w][(l * 9 + (a & 3)) & 255]; acc += s[((word & 63) * 4 + (word >> 16 & 63)) & 1023];
    if ((w + n) % 2 == 0) { asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(c) : "r"(at(m[w] + (rows[t & 95] & 63 ^ (l & 7)) * 4)) : "memory"); acc += s[(c & 63) * 12]; }
    out[(blockIdx.x * T + t) & 2047] = acc;
}
