// launch 1 32 n=3
// launch 2 64 n=21
// launch 1 32 n=40
// Shuffles with widths below 32 and source lanes out of range, in all modes, and with the predicate that tells so; raw clamp words.
#define SHFL(mode, r, p, a, b, c) asm volatile("{ .reg .pred q; shfl.sync." mode ".b32 %0|q, %2, %3, %4, 0xffffffff; selp.u32 %1, 1, 0, q; }" : "=r"(r), "=r"(p) : "r"(a), "r"(b), "r"(c))
extern "C" __global__ void k9236(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned v = l * 3 + 1, a, p;
    a = __shfl_sync(~0u, v, (int)(l + n), 8); acc += s[(a * 4) & 1023];
    a = __shfl_up_sync(~0u, v, n & 31, 16); s[(a * 2 + l) & 1023] = a;
    a = __shfl_down_sync(~0u, v, 5, 4); acc += s[(a * 8) & 1023];
    a = __shfl_xor_sync(~0u, v, 12, 8); s[(a * l) & 1023] = a;
    a = __shfl_sync(~0u, v, -(int)(l & 7), 16); acc += s[(a * 32 + l) & 1023];
    SHFL("up", a, p, v, 3, 0x1800); if (p) acc += s[(a * 5) & 1023]; else s[(l * 16) & 1023] = a;
    SHFL("down", a, p, v, n & 15, 0x100f); s[(l * (p ? 2 : 4) + a * 32) & 1023] = p;
    SHFL("bfly", a, p, v, 9, 0x1c07); if (!p) acc += s[(a * 3 + l) & 1023];
    SHFL("idx", a, p, v, l * 2, 0x070b); acc += s[(a * 6) & 1023]; s[(p * 32 + l * 8) & 1023] = a;
    SHFL("idx", a, p, v, l ^ 35, 0x1f1f1f); if (p) s[(a * 7) & 1023] = 2;
    SHFL("up", a, p, v, l & 3, 0x0004); if (p ^ (l & 1)) acc += s[(a * 4 + p) & 1023];
    SHFL("down", a, p, v, l & 15, 0x1013); acc += s[(a * l + p) & 1023];
    for (unsigned d = 1; d < 32; d += d) {
        a = __shfl_up_sync(~0u, v, d, 32 >> (d & 3));
        if ((l & 31) >= d) v += a & 7;
        if (d & 20) acc += s[(v * 2) & 1023];
    }
    s[(v * 4) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
