// launch 1 64 n=3
// launch 1 32 n=8
// Four-bit weights: unpacked by shifts, by lop3 magic and by prmt; a table of sixteen in shared memory, replicated for banks.
extern "C" __global__ void k9737(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned lut[16 * 33], s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    for (unsigned i = t; i < 16 * 32; i += T) lut[i / 32 * 33 + i % 32] = i / 32 * 3;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        unsigned q = src[(k * T + t) & 1023] * 0x10101u, lo, hi;
        for (int i = 0; i < 8; i += 3) acc += lut[(q >> 4 * i & 15) * 33 + l] + lut[(q >> 4 * i & 15) * 33];
        asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(lo) : "r"(q));
        asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(hi) : "r"(q & 0x0f0f0f0f), "r"(q >> 4 & 0x0f0f0f0f));
        acc += s[(lo & 1023)] + s[(lo >> 16 & 15) * 32 + (hi & 31)] + s[(hi >> 24) * 8 & 1023];
        acc += s[(lut[(hi >> 8 & 15) * 33 + k] * l) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
