// launch 1 64 n=4
// launch 2 96 n=129
// launch 3 33 n=3000
// Local arrays stored to at unknown places and read at known ones, copied to and from shared memory as bytes, unions of float, word, half and byte, spills under 32 registers, functions called with a pointer to local or shared memory, and recursion.
#include <cstring>
union Any { float f; unsigned u; unsigned short h[2]; unsigned char b[4]; int i; };

__device__ __noinline__ unsigned mix_in(unsigned* p, unsigned at, unsigned x) {
    const unsigned old = p[at];
    p[at] = x;
    return old + p[at ^ 1];
}
__device__ __noinline__ unsigned down(const unsigned* s, unsigned x, unsigned depth) {
    if (depth == 0) return s[x * 32 & 1023];
    unsigned keep[4];
    for (unsigned i = 0; i < 4; i++) keep[i] = s[(x << i & 1023)];
    const unsigned below = down(s, x + (keep[x & 3] & 1), depth - 1);
    return below + keep[below & 3];
}

extern "C" __global__ void __maxnreg__(32) k10008(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ alignas(16) unsigned rows[96 * 9];
    const unsigned t = threadIdx.x, lane = t & 31;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 37;
    for (unsigned i = t; i < 96 * 9; i += blockDim.x) rows[i] = i & 31;
    const unsigned v = src[(t * 7 + n) & 4095], w = src[(t * 2 + n + 99) & 4095];
    unsigned acc = 0, loc[24];
    __syncthreads();
    for (unsigned i = 0; i < 24; i++) loc[i] = i * 32 + (lane & 1);
    loc[v & 15] = lane * 32;
    acc += s[loc[3] & 1023];
    acc += s[loc[15] & 1023];
    acc += s[loc[16] & 1023];
    loc[(w & 7) + 16] = lane * 16;
    acc += s[loc[16] & 1023] + s[loc[(v + 1) & 15] & 1023] + s[loc[v & 15] & 1023];
    ((unsigned char*)loc)[(v & 3) + 80] = (unsigned char)(lane * 8);
    acc += s[loc[20] & 1023] + s[loc[20] >> 22];
    ((unsigned short*)loc)[(w & 1) + 38] = (unsigned short)(lane * 24);
    acc += s[loc[19] % 1021] + s[loc[19] >> 16 & 1023];

    unsigned char part[36];
    memcpy(part, rows + t % 96 * 9, 36);
    part[w % 36] ^= 0x1f;
    acc += s[part[4] * 32 & 1023];
    memcpy(rows + t % 96 * 9, part + (v & 3), 32);
    acc += s[rows[t % 96 * 9] * 31 & 1023] + s[rows[t % 96 * 9 + 8] * 32 & 1023];
    memcpy(loc + 2, rows + (t % 96) * 9 + 1, 8 * (v & 1) + 8);
    acc += s[loc[2] % 1024] + s[loc[4] % 1024] + s[loc[6] & 1023];

    Any a;
    a.f = (float)(v & 31) * f;
    acc += s[a.u >> 18 & 1023];
    a.b[w & 3] = (unsigned char)lane;
    acc += s[a.u >> 20 & 1023] + s[a.h[v & 1] & 1023];
    a.h[1] = 0x4500 + lane;
    acc += s[(unsigned)a.f & 1023];
    a.i = -a.i;
    acc += s[a.b[3] * 4] + s[(a.u & 31) * 32];

    unsigned keep[12];
    for (unsigned i = 0; i < 12; i++) keep[i] = s[(v + i * w) & 1023];
    for (unsigned r = 0; r < 2 + (n & 1); r++) {
        for (unsigned i = 0; i < 12; i++) keep[i] = keep[i] * 3 + keep[(i + 5) % 12] + s[(keep[(i + 1) % 12] & 31) * 32];
        for (unsigned i = 0; i < 12; i++) acc ^= s[(keep[i] + lane * (i + 1)) & 1023];
        acc += keep[r];
    }
    acc += mix_in(v & 2 ? loc : rows + t % 96 * 9, w & 3, lane * 32);
    acc += s[loc[w & 3] & 1023] + s[rows[t % 96 * 9 + 1] & 1023] + s[loc[0] & 1023];
    acc += down(s, v & 31, w & 3);
    acc += down(w & 16 ? s : keep[0] & 1 ? s : out == nullptr ? loc : s, lane, n & 1);
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + loc[5];
}
