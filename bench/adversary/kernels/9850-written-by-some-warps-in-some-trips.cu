// launch 1 128 n=6
// launch 2 96 n=3
// launch 1 5x7x3 n=9
// launch 3 40 n=0
// registers that whole warps write in some trips and read in later ones, under guards that change; parts of a warp that join before
__device__ __noinline__ unsigned twice(unsigned a, unsigned k) { return (a << 1) ^ k; }
extern "C" __global__ void k9850(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048], q[256];
    unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), w = t >> 5, l = t & 31, acc = 0;
    for (unsigned i = t; i < 2048; i += nt) s[i] = i * 3;
    for (unsigned i = t; i < 256; i += nt) q[i] = 0;
    __syncthreads();
    unsigned kept, other = l * 2, third = 7;
    asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"(w + 1));
    for (unsigned k = 0; k < n; ++k) {
        if (((k + w) & 3) == 1) kept = l * (k + 2);
        else if (((k + w) & 3) == 2) other = kept + k;
        acc += s[(kept + other * 4) & 2047];
        if ((k ^ w) & 1) third = twice(other, k);
        else if (l > k) third = l * 8;
        acc += s[(third & 255) * 8 & 2047];
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, %2; @p mov.u32 %0, %3; }" : "+r"(other) : "r"(w), "r"(k & 1), "r"(l << (k & 7)));
        s[(other * 2 + w) & 2047] = k;
        __syncwarp();
    }
    unsigned last;
    if (w & 1) last = l * 16; else last = kept;
    if (l < 9) { q[(last + l) & 255] = last; if (w == 0) last = 33 * l; }
    __syncwarp();
    acc += s[last & 2047];
    bool any = false;
    unsigned from = w;
    do {
        any = __any_sync(__activemask(), from + l > 40);
        if (any) from = l * 4; else from += 8 + (l & 1);
        acc += s[(from * 8) & 2047];
    } while (!any && from < 200);
    q[(acc & 1) + l * 4] = acc;
    out[(blockIdx.x * nt + t) & 1023] = acc + q[t & 255];
}
