// launch 1 64 n=3
// launch 1 22 n=0
// launch 2 32 n=7
// Structs passed by value and indexed dynamically, constant tables indexed by lane that give offsets, tables of pointers in constants.
struct P { unsigned k[12]; unsigned short h[6]; unsigned char b[7]; };
__constant__ unsigned steps[16] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 16, 32, 33, 31};
__constant__ unsigned char order[32] = {31, 0, 30, 1, 29, 2, 28, 3, 27, 4, 26, 5, 25, 6, 24, 7, 23, 8, 22, 9, 21, 10, 20, 11, 19, 12, 18, 13, 17, 14, 16, 15};
__constant__ short signs[8] = {-1, 1, -8, 8, -33, 33, -100, 100};
__device__ __noinline__ unsigned pick(P p, unsigned i) { return p.k[i % 12] + p.h[i % 6] * 2 + p.b[i % 7]; }
extern "C" __global__ void k9621(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; P p;
    for (unsigned i = 0; i < 12; i++) p.k[i] = i * n; for (unsigned i = 0; i < 6; i++) p.h[i] = i + 3; for (unsigned i = 0; i < 7; i++) p.b[i] = i;
    acc += src[pick(p, t)] + src[pick(p, n)];
    acc += src[steps[t & 15]] + src[steps[n & 15] * t] + src[order[t & 31] * 2] + src[2048 + signs[t & 7] * (int)n];
    acc += ((const uint2*)src)[order[(t * n) & 31]].x + ((const unsigned char*)src)[steps[order[t & 31] & 15]];
    out[order[t & 31] + (g & ~31u)] = acc; ((uint4*)out)[256 + order[31 - (t & 31)]] = make_uint4(acc, t, n, g);
    out[4096 + steps[(t + n) & 15] * 3] = acc;
    for (unsigned i = 0; i < 3; i++) acc += src[g + steps[i + n & 15]];
    out[8192 + g] = acc;
}
