// launch 1 32 n=0
// launch 1 64 n=1
// launch 2 96 n=2
// An epilogue: stmatrix with and without transposition into padded or swizzled rows, read back as vectors and as columns of halves.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9124(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned short c[3][32 * 40];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 3 * 1280; k += size) (&c[0][0])[k] = (unsigned short)(k & 15);
    __syncthreads();
    unsigned pitch = 32 + 8 * (n & 1);
    auto place = [&](unsigned row, unsigned chunk) { return row * pitch + (n == 2 ? (chunk ^ (row >> 1) & 3) : chunk) * 8; };
    for (unsigned half = 0; half < 2; half++) {
        unsigned row = half * 16 + (l & 15), chunk = (l >> 4) * 2 + (w & 1);
        unsigned p = l * 4 + half, q = (l << 16 | (31 - l)) * 3;
        if (half ^ (n >> 1))
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(at(&c[w][place(row, chunk)])), "r"(p), "r"(q), "r"(p ^ q), "r"(p + q) : "memory");
        else
            asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(at(&c[w][place(row, chunk)])), "r"(q), "r"(p), "r"(p + q), "r"(p & q) : "memory");
    }
    __syncthreads();
    unsigned other = (w + 1) % (size / 32);
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = k * 32 + l;
        uint4 v = *(uint4*)&c[other][place(i / 4, i % 4)];
        acc += s[v.x & 1023] + s[(v.y >> 16) * 4 & 1023] + s[(v.w * (k + 1)) & 1023];
    }
    unsigned column = 0;
    for (unsigned row = l & 3; row < 32; row += 5 + (l & 1)) column += c[other][place(row, l >> 3) + (l & 7)];
    acc += s[(column * 8 + l) & 1023];
    s[(column * l) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
