// launch 1 64 n=6
// launch 2 96 n=7
// launch 3 40 n=901
// Conditions that exclude or imply each other, and the same conditions after the variable changed (through shared memory, a shuffle, global memory, a loop); joins of pairs whose sum or difference is known.
extern "C" __global__ void k10006(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], own[96];
    const unsigned t = threadIdx.x, lane = t & 31, base = t & ~31u, me = (blockIdx.x * blockDim.x + t) & 4095;
    const unsigned here = blockDim.x - base >= 32 ? ~0u : (1u << (blockDim.x - base)) - 1;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 9;
    unsigned a = src[(t * 3 + n) & 4095] & 63, b = src[(t * 13 + n + 5) & 4095] & 63, acc = 0;
    own[t] = a;
    __syncthreads();
    if (a < b) acc += s[lane * 32];
    if (b <= a) acc += s[lane * 32 + 1];
    const bool less = a < b;
    a = own[t ^ 1 & (t + 1 < blockDim.x ? 1 : 0)];
    __syncwarp(here);
    if (less && b <= a) acc ^= s[lane * 16];
    if (!less && a < b) acc ^= s[lane * 16 + 1];
    own[t] = a;
    __syncwarp(here);
    if (own[t] == a) acc += s[lane * 8];
    else acc += s[lane * 32 + 2];

    const bool c = src[(t * 5 + n) & 4095] & 1, d = src[n & 4095] & 1;
    const unsigned x = c ? 3 : 35, y = c ? 2 : 1, z = c ? 1 : 2, w = d ? 17 : 16, k = d ? 0 : 1;
    acc += s[x];
    acc += s[(y + z) * lane & 1023];
    acc += s[(y - z) * 32 + 64];
    acc += s[(w + k) * lane];
    acc += s[(w - k) * lane & 1023];
    acc += s[(x + y * 32) & 1023];
    acc += s[(c ? lane * 32 : lane) & 1023];
    acc += s[d ? lane * 32 : lane];
    unsigned l = c ? lane : 31 - lane, h = d ? lane : 31 - lane;
    acc += s[l * 32 + h];
    acc += s[(l + h) * 16];
    acc += s[(l ^ h) * 32];

    out[me] = a * 32 + (c ? 1 : 0);
    __threadfence_block();
    const unsigned back = *(volatile unsigned*)(out + me);
    acc += s[back & 1023];
    if ((back & 1) == c) acc += s[lane * 32];
    else acc += s[lane * 2];
    const unsigned once = *(const volatile unsigned*)(src + ((t * 5 + n) & 4095));
    if ((once & 1) != c) acc += s[lane * 32 + 3];
    if (once != src[(t * 5 + n + 1) & 4095]) acc += s[lane * 32 + 4];

    unsigned m = n;
    if (m & 1) acc += s[lane * 4];
    for (unsigned i = 0; i < 3; i++) {
        m = m & 1 ? m * 3 + 1 : m >> 1;
        if (m & 1) acc += s[(lane * 32 + i)];
        if (!(n & 1) && !(m & 1)) acc ^= s[lane * 16 + i];
    }
    if ((n & 1) == (m & 1)) acc += s[lane * 8 + 1];
    unsigned p = lane, q = a;
    for (unsigned i = 0; i < 4; i++) {
        if (p < q) { p += b & 7; if (p >= q) acc += s[p * 32 & 1023]; }
        else if (p == q) acc += s[q * 32 & 1023];
        else { const unsigned o = p; p = q; q = o; if (p < q) acc ^= s[(q - p) * 32 & 1023]; }
    }
    if (p < q && q < b && b < p) acc += s[lane];
    const unsigned r = __shfl_xor_sync(here, a, 0), e = __shfl_sync(here, a, (lane + 1 & 7) | (lane & 24));
    if (r == a) acc += s[lane * 32 + 5];
    if (lane < 16 && e > a && r == a) acc += s[(e - a) * 32 & 1023];
    bool was = a > 31;
    if (was) a -= 32;
    if (a > 31) acc += s[lane * 32 + 6];
    if (was) a += 32;
    if (a > 31) acc += s[lane * 32 + 7];
    if (was != (a > 31)) acc += s[lane * 32 + 8];
    out[me] = acc;
}
