// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 32 n=9
// Diverged lanes call one noinline function from four sites, with __syncwarp and shuffles of the callers' masks inside.
__device__ __noinline__ unsigned visit(unsigned* s, unsigned mask, unsigned i, unsigned step) {
    unsigned a = s[(i * step) & 1023];
    __syncwarp(mask);
    unsigned rank = __popc(mask & ((1u << (i & 31)) - 1));
    s[(rank * 8 + step * 32) & 1023] = a;
    unsigned v = __shfl_sync(mask, i * step, 31 - __clz(mask));
    __syncwarp(mask);
    if (step > 3) s[(rank * 2 + v) & 1023] = a + s[(rank * 3) & 1023];
    return v & 15;
}
extern "C" __global__ void k9222(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned r, low = __ballot_sync(~0u, l & 1 && l < 9), mid = __ballot_sync(~0u, l & 1 && l >= 9), rest = ~(low | mid);
    if (l & 1) {
        if (l < 9) r = visit(s, low, l, 2); else { r = visit(s, mid, l, 3 + (n & 1)); acc += s[(l * r) & 1023]; }
    } else {
        r = 1;
        for (unsigned i = 0; i < (n & 3) + 1; i++) r += visit(s, rest, l, r & 7);
    }
    acc += s[(l * r) & 1023];
    __syncwarp();
    switch (l & 3) {
    case 0: r = visit(s, 0x11111111u, l, 4); break;
    case 1: r = 5; acc += s[(l * 6) & 1023]; break;
    default: r = visit(s, 0xCCCCCCCCu, l, l < n ? 5 : 5 + (l & 1)); if (r & 1) s[(l * r) & 1023] = acc;
    }
    s[(l * (r + 2)) & 1023] = acc;
    r = visit(s, ~0u, l, n & 7);
    acc += s[(l * r + 1) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
