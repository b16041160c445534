// launch 1 32 n=6
// launch 1 44 n=213
// launch 2 64 n=1985229328
// __byte_perm as a table of sixteen bytes, as a sorting network of bytes, and with the sign-replicating selectors; selectors come from shared memory.
__device__ __forceinline__ unsigned look(unsigned i, uint4 tab) {
    unsigned low = __byte_perm(tab.x, tab.y, i & 7), high = __byte_perm(tab.z, tab.w, i & 7);
    return (i & 8 ? high : low) & 255;
}
__device__ __forceinline__ unsigned raw(unsigned a, unsigned b, unsigned c) { unsigned r; asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
extern "C" __global__ void k9323(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned selectors[64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    selectors[t] = t * 0x1357u ^ n;
    __syncthreads();
    const uint4 tab = {0x0C050B02u, 0x0E07010Fu, 0x06000A0Du, 0x09030804u};
    unsigned i = t & 15, hops = 0;
    do { i = look(i, tab); acc += s[(i * 32 + hops) & 1023]; hops++; } while (i != (t & 15) && hops < 9);
    acc += s[(hops * 4 + t) & 1023];
    unsigned sel = selectors[(t * 3 + 1) % blockDim.x];
    unsigned signs = raw(0x80FF017Fu, t * 0x11223344u, sel | 0x8008u);
    acc += s[(signs ^ signs >> 14) & 1023];
    if (raw(sel, sel, 0xBBAAu) == ~0u) s[(sel >> 4) & 1023] = acc;
    unsigned v = __byte_perm(sel, t, 0x4210) * 0x01000193u;
    for (unsigned step = 0; step < 3; step++) {
        unsigned a = __byte_perm(v, 0, 0x4440 + step), b = __byte_perm(v, 0, 0x4441 + step);
        if (a > b) { unsigned swap = step == 0 ? 0x3201u : step == 1 ? 0x3120u : 0x2310u; v = __byte_perm(v, 0, swap); acc += s[(a * 3) & 1023]; }
    }
    s[((v >> 24) * 4 + (v & 3)) & 1023] = acc;
    unsigned rev = __byte_perm(v, 0, 0x0123), spread = __byte_perm(v, 0, 0x4140) | __byte_perm(0, v, 0x6060);
    acc += s[(rev >> 22) & 1023];
    acc += s[(spread * 5) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
