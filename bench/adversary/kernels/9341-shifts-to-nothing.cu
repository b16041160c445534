// launch 1 32 n=32
// launch 1 64 n=33
// launch 2 40 n=4294967295
// Shifts by 32 and more by the rules of PTX and of machine code: masks of full length, arithmetic shifts to the sign, barrel rotations from halves.
#define SH(name, ptx) __device__ __forceinline__ unsigned name(unsigned a, unsigned b) { unsigned r; asm volatile(ptx : "=r"(r) : "r"(a), "r"(b)); return r; }
SH(shl, "shl.b32 %0, %1, %2;") SH(shr, "shr.u32 %0, %1, %2;") SH(sar, "shr.s32 %0, %1, %2;")
SH(shlh, "{ .reg .b16 h, r; cvt.u16.u32 h, %1; shl.b16 r, h, %2; cvt.u32.u16 %0, r; }") SH(sarh, "{ .reg .b16 h, r; cvt.u16.u32 h, %1; shr.s16 r, h, %2; cvt.s32.s16 %0, r; }")
extern "C" __global__ void k9341(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned counts[64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    counts[t] = t + n - 16;
    __syncthreads();
    unsigned c = counts[(t + 3) % T], x = t * 0x87654321u | 0x80000001u;
    unsigned mask = shl(1u, c) - 1;
    acc += s[mask & (t * 4) & 1023];
    if (!mask) acc += s[(t * 16) & 1023]; else if (mask == ~0u) s[(t * 8) & 1023] = acc;
    acc += s[(shr(x, c) ^ sar(x, c)) & 1023];
    acc += s[(unsigned)__popc(sar(x, t * 2)) * 32 + (t & 1) & 1023];
    unsigned rot = shl(x, c & 63) | shr(x, 32 - (c & 63));
    acc += s[rot >> 22];
    acc += s[(shlh(x, t & 31) ^ sarh(x, c & 31) & 63) & 1023];
    unsigned long long two = (unsigned long long)x << 32 | t;
    acc += s[(unsigned)(two >> (c & 63)) & 1023];
    for (unsigned i = 28; i < 36; i++) if (shl(1u, i) & x || shr(x, i)) acc += s[(i * 32 + t) & 1023];
    unsigned length = t % 34, low = length >= 32 ? ~0u : (1u << length) - 1, wrapped; asm volatile("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(wrapped) : "r"(x), "r"(length));
    acc += s[(low & wrapped) >> 3 & 1023];
    int depth = (int)(t & 7) - 4; unsigned grown = depth < 0 ? t >> -depth : t << depth;
    s[(grown * 3) & 1023] = acc;
    unsigned odd = shl(shl(t, 31), 1) + shr(shr(x, 16), 16) + sar(sar(x, 31), 31);
    acc += s[(odd + t * 2) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
