// launch 1 32 n=5
// launch 2 96 n=1023
// launch 4 16x3x2 n=64
// Two unknown bits here and there, added, multiplied, joined, shifted by unknown amounts (past 31 too), permuted as bytes (sign copies too), extracted and inserted over the end: carries leave the bits that are "unknown".
__device__ __forceinline__ unsigned shl(unsigned x, unsigned k) { unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(k)); return r; }
__device__ __forceinline__ unsigned shr(unsigned x, unsigned k) { unsigned r; asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(k)); return r; }
__device__ __forceinline__ int sar(int x, unsigned k) { int r; asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(k)); return r; }
__device__ __forceinline__ unsigned bfeu(unsigned x, unsigned p, unsigned l) { unsigned r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(l)); return r; }
__device__ __forceinline__ int bfes(int x, unsigned p, unsigned l) { int r; asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(l)); return r; }
__device__ __forceinline__ unsigned bfi(unsigned x, unsigned into, unsigned p, unsigned l) { unsigned r; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(into), "r"(p), "r"(l)); return r; }
__device__ __forceinline__ unsigned prmt(unsigned x, unsigned y, unsigned s) { unsigned r; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); return r; }
__device__ __forceinline__ unsigned prmtrc(unsigned x, unsigned y, unsigned s) { unsigned r; asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); return r; }

extern "C" __global__ void k10002(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), threads = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;
    for (unsigned i = t; i < 1024; i += threads) s[i] = i ^ n;
    __syncthreads();
    const unsigned a = src[(t * 3 + n) & 4095], b = src[(t * 11 + blockIdx.x * 5 + 9) & 4095], k = src[n & 4095];
    const unsigned p = a & 3, q = b & 3;
    unsigned acc = 0;
    acc += s[(p << 5) + (q << 5)];
    acc ^= s[((p << 5) | (q << 6)) + (p << 5)];
    acc += s[p * q << 5];
    acc ^= s[(p * p + q * q) << 5];
    acc += s[(p - q) * 32 & 1023];
    acc ^= s[0x3e0 + (p << 5) + (q << 4) & 1023];
    acc += s[(p << 3) + (q << 3) + (lane & 7)];
    acc ^= s[((p << 3) ^ (q << 3) ^ lane) * 32 & 1023];
    acc += s[(min(p * 8, q * 4 + 5) * 31) & 1023];
    acc ^= s[512 + max((int)p - 2, -(int)q) * 96];
    acc += s[(max(p, q) - min(p, q)) * 256 + lane];
    acc ^= s[shl(lane, a & 63) & 1023];
    acc += s[(shr(0xdeadbeef, b & 63) + lane * 32) & 1023];
    acc ^= s[(sar((int)(a - b), k & 63) * 32 + lane) & 1023];
    acc += s[bfes((int)(a << 22), 20 + (b & 15), k & 15) & 1023];
    acc ^= s[bfeu(a * 0x9e3779b9, b & 31, 33 - (k & 7)) & 1023];
    acc += s[bfi(p, lane * 32, b & 31, 3) & 1023];
    acc ^= s[bfi(lane, 0, 30 - (a & 31), 5 + q) >> 22];
    acc += s[prmt(a * 0x01010101, lane * 0x20, b & 0xffff) & 1023];
    acc ^= s[prmt(lane * 8 + 0x80, a << 5, 0x8810 + p * 0x0101) >> 6 & 1023];
    acc += s[prmtrc(lane * 0x00200040, 0, a) & 1023];
    acc ^= s[__brev(p) >> 22];
    acc += s[__clz(a & 0x3f8) * 32 & 1023];
    acc ^= s[__popc(a ^ lane) * 32];
    acc += s[__ffs(b & 0xf0) * 96 + (lane & 1)];
    acc ^= s[__funnelshift_l(a, lane * 32, b) & 1023];
    acc += s[__funnelshift_lc(lane, a, b & 63) & 1023];
    acc ^= s[__funnelshift_rc(lane << 7, b, a & 63) & 1023];
    acc += s[__dp4a(a * 0x00010100, 0x20202020u, lane) & 1023];
    acc ^= s[__usad(a & 31, lane, 0) * 32];
    acc += s[((p | 4) * 0x55 & (q << 5 | 0x1f)) & 1023];
    acc ^= s[(~(p << 5) + 1) & 1023];
    acc += s[(((k & 1) << 4) + lane) * ((k & 2) + 1) & 1023];
    if (((p << 2) + (q << 2)) & 16) acc += s[lane * 32];
    if (((p ^ q) + (p & q)) == (p | q)) acc ^= s[lane * 32 + 1];
    if ((p + q) & 4) acc += s[(lane & 15) * 64 + 3];
    for (unsigned i = p; i <= q; i++) acc += s[(lane << i + 2) & 1023];
    out[(blockIdx.x * threads + t) & 4095] = acc;
}
