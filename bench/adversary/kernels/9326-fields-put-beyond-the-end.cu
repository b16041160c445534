// launch 1 32 n=5
// launch 1 39 n=31
// launch 2 64 n=12
// bfi and bfe with positions and lengths by lane from shared memory: empty, crossing bit 31, crossing 63; a page-table walk by fields.
__device__ __forceinline__ unsigned put(unsigned a, unsigned b, unsigned c, unsigned d) { unsigned r; asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
__device__ __forceinline__ unsigned get(unsigned a, unsigned c, unsigned d) { unsigned r; asm volatile("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(c), "r"(d)); return r; }
__device__ __forceinline__ int gets(unsigned a, unsigned c, unsigned d) { int r; asm volatile("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(c), "r"(d)); return r; }
extern "C" __global__ void k9326(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char pos[64], len[64];
    __shared__ unsigned pages[64];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x; unsigned long long w, v;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    pos[t] = (unsigned char)(t * 5 + n); len[t] = (unsigned char)(t * 3 % 34);
    for (unsigned k = t; k < 64; k += T) pages[k] = (k * 29 + 7) << 4 | (k % 5 != 2);
    __syncthreads();
    unsigned q = (t + 7) % T, x = t * 0x9E3779B1u + n;
    acc += s[get(x, pos[q] & 31, len[q]) & 1023];
    acc += s[(512 + gets(x, pos[q], len[q] & 15)) & 1023];
    unsigned y = put(t * 3, x, pos[q] & 63, len[q] & 31);
    acc += s[(y ^ y >> 16) & 1023];
    y = put(~0u, 0u, t, 40); if (y) acc += s[__clz((int)y) * 32 & 1023]; else s[(t * 2) & 1023] = acc;
    w = (unsigned long long)x << 29 ^ t;
    asm volatile("bfe.u64 %0, %1, %2, %3;" : "=l"(v) : "l"(w), "r"((unsigned)pos[q] & 63), "r"((unsigned)len[q] * 2)); acc += s[(unsigned)(v ^ v >> 31) & 1023];
    asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(v) : "l"(w), "r"(t + 40), "r"(30u)); acc += s[(unsigned)(v >> 9) & 1023];
    asm volatile("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(v) : "l"(w), "l"(~w), "r"(t * 2 & 63), "r"((unsigned)len[q])); acc += s[(unsigned)(v >> 30) & 1023];
    unsigned virt = t * 0x2F1u ^ n << 3, entry = pages[get(virt, 8, 5) & 63];
    for (unsigned level = 0; level < 4 && (entry & 1); level++) {
        unsigned index = get(entry, 4, 3 + level) ^ get(virt, 7 - level * 2, 3);
        acc += s[(index * 4 + level) & 1023];
        entry = pages[(index + level) & 63];
    }
    s[get(entry, 2, 9)] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
