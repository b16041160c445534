// launch 1 32 n=3
// launch 1 64 n=1
// movmatrix, stmatrix in both orders, then reads by rows, by columns and through what was stored.
extern "C" __global__ void k9736(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned short M[64 * 40];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0, v = (l * 2) | (l * 2 + 1) << 16, x;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    for (unsigned i = t; i < 64 * 40; i += T) M[i] = 0;
    __syncthreads();
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x) : "r"(v));
    acc += s[(x & 0xffff) * 8 & 1023] + s[(x >> 16) * 16 & 1023];
    unsigned m = (unsigned)__cvta_generic_to_shared(M) + w * 32 * 80 / 2;
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" :: "r"(m + (l & 15) * 80), "r"(v), "r"(x) : "memory");
    __syncwarp();
    acc += s[M[w * 32 * 20 + l % 16 * 40 + (l >> 4) * n] * 4 & 1023];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %1, %2};" :: "r"(m + (l & 15) * 80 + (l >> 4) * 16), "r"(v), "r"(x) : "memory");
    __syncwarp();
    for (unsigned k = 0; k < n; k++) acc += s[M[w * 32 * 20 + k * 40 + l % 16] * 32 & 1023];
    acc += M[(l * 40) & 2047];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
