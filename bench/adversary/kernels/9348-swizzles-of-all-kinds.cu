// launch 1 32x2 n=3
// launch 1 16x5 n=7
// launch 2 8x8 n=12
// Swizzles: by xor of bits as templates, by rotation of rows, by an odd multiplier, of bytes within 128, by a permutation kept in shared memory; written and read transposed.
template <int B, int M, int S> __device__ __forceinline__ unsigned swizzle(unsigned x) { return x ^ ((x & (((1u << B) - 1) << (M + S))) >> S); }
extern "C" __global__ void k9348(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(1024) unsigned s[2048];
    __shared__ unsigned char perm[32];
    unsigned x = threadIdx.x, y = threadIdx.y, w = blockDim.x, T = w * blockDim.y, t = y * w + x, acc = 0;
    for (unsigned k = t; k < 2048; k += T) s[k] = k;
    for (unsigned k = t; k < 32; k += T) perm[k] = (unsigned char)((k * 13 + n) & 31);
    __syncthreads();
    acc += s[swizzle<3, 2, 5>(t * 4) & 2047];
    acc += s[swizzle<5, 0, 5>(x * 32 + y) & 2047];
    s[swizzle<2, 3, 3>(x * 8 + y * 64) & 2047] = acc;
    uint4 v = ((uint4*)s)[swizzle<3, 0, 3>(x * 8 + y) & 511]; acc += v.x ^ v.w;
    uint2 u = ((uint2*)s)[swizzle<3, 1, 4>(x * 16 + y * 2) & 1023]; acc += u.x;
    acc += s[(x * 32 + ((y + x) & 31)) & 2047];
    acc += s[(x * 32 + ((y + x * n) % 31)) & 2047];
    s[(x * 32 + ((y * 5 + x * 9) & 31)) & 2047] = acc;
    acc += s[(x * 32 + (perm[x & 31] ^ y)) & 2047];
    acc += s[(perm[perm[t & 31]] * 32 + perm[y]) & 2047];
    unsigned byte = (x * 128 + y * 16) ^ (x & 7) << 4;
    acc += *(unsigned*)((char*)s + (byte & 8188));
    *(unsigned short*)((char*)s + ((byte + 6 ^ (y & 1) << 1) & 8190)) = (unsigned short)acc;
    for (unsigned i = 0; i < 4; i++) { unsigned row = x ^ i, col = (y * 4 + i) ^ (row >> 1 & 7); acc += s[(row * 32 + col) & 2047]; if ((col & n) == i) s[(col * 32 + row) & 2047] = acc; }
    unsigned rotated = __funnelshift_l(x << 27 | x, x << 27 | x, y * 3 + 5); acc += s[(rotated & 31) * 32 + y];
    unsigned mixed = (t * 0x9E5u ^ t >> 3) & 2047; if (mixed & 1) acc += s[mixed]; else s[mixed ^ 64] = acc;
    acc += s[(swizzle<3, 4, 3>(t * 36 * 4) >> 2) & 2047];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
