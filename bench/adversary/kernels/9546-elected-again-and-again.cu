// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 54 n=2
// Leaders by elect.sync with masks of parts, in loops that lanes leave one after another, in both branches; leaders alone access.
__device__ __forceinline__ bool elect(unsigned mask, unsigned& who) { unsigned p; asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(who), "=r"(p) : "r"(mask) : "memory"); return p; }
extern "C" __global__ void k9546(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned left = src[l + n] & 3, who = 99, mine = 0;
    unsigned mask = __ballot_sync(__activemask(), 1);
    while (true) {
        unsigned in = __ballot_sync(mask, left > 0);
        if (!(in >> l & 1)) break;
        mask = in;
        bool lead = elect(mask, who);
        if (lead) { acc += s[(who * 32) & 1023]; mine++; }
        acc += s[((l - who) * 2) & 1023];
        if (lead) left = 0; else left--;
    }
    __syncwarp(__activemask());
    __syncthreads();
    acc += s[((l >> 1) + (mine & 1) * 32) & 1023];
    unsigned all = __ballot_sync(__activemask(), 1), parts = __ballot_sync(all, l % 3 == n % 3);
    if (l % 3 == n % 3) { if (elect(parts, who)) s[(l * 4) & 1023] = who; acc += s[(l * (who & 3)) & 1023]; }
    else { if (elect(all & ~parts, who)) acc += s[(l * 8) & 1023]; s[(l * (who & 7)) & 1023] = 1; }
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
