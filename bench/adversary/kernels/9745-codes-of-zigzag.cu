// launch 1 64 n=3
// launch 2 32 n=2
// Blocks of 8 by 8: rows, columns, zigzag order by a constant table, run lengths of zeros by ballots of 64 positions.
__constant__ unsigned char zigzag[64] = {0,1,8,16,9,2,3,10,17,24,32,25,18,11,4,5,12,19,26,33,40,48,41,34,27,20,13,6,7,14,21,28,35,42,49,56,57,50,43,36,29,22,15,23,30,37,44,51,58,59,52,45,38,31,39,46,53,60,61,54,47,55,62,63};
extern "C" __global__ void k9745(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ short block[8][8 * 9];
    for (unsigned b = w; b < 8; b += T / 32) {
        short* p = block[b];
        for (unsigned i = l; i < 64; i += 32) p[i / 8 * 9 + i % 8] = (short)((src[b * 64 + i] & 31) < 8 ? src[i] & 15 : 0);
        __syncwarp();
        if (l < 8) { int a = p[l * 9], z = p[l * 9 + 7]; for (int i = 1; i < 7; i++) a += p[l * 9 + i]; p[l * 9 + 7] = a & z; }
        __syncwarp();
        if (l >= 24) { int a = 0; for (int i = 0; i < 8; i++) a += p[i * 9 + l - 24]; acc += a; }
        unsigned z0 = zigzag[l], z1 = zigzag[l + 32];
        unsigned long long nonzero = __ballot_sync(~0u, p[z0 / 8 * 9 + z0 % 8] != 0) | (unsigned long long)__ballot_sync(~0u, p[z1 / 8 * 9 + z1 % 8] != 0) << 32;
        unsigned long long before = nonzero & ((1ull << l) - 1);
        unsigned run = before ? l - (63 - __clzll(before)) - 1 : l;
        if (nonzero >> l & 1) acc += s[(run * 16 + p[z0 / 8 * 9 + z0 % 8]) & 1023];
        acc += s[(__popcll(nonzero) * n + l * 2) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
