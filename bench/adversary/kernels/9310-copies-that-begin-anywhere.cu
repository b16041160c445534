// launch 1 32 n=3
// launch 1 24 n=17
// launch 1 64 n=6
// A copy routine for any alignment: bytes until the target is aligned, words made of two by a funnel shift, and the bytes that remain.
__device__ __noinline__ void copy(unsigned char* to, const unsigned char* from, unsigned length) {
    while (length && ((unsigned long long)to & 3)) { *to++ = *from++; length--; }
    unsigned off = (unsigned)((unsigned long long)from & 3);
    if (off == 0) {
        for (; length >= 4; length -= 4, to += 4, from += 4) *(unsigned*)to = *(const unsigned*)from;
    } else {
        const unsigned* w = (const unsigned*)(from - off);
        for (; length >= 4; length -= 4, to += 4, from += 4) { *(unsigned*)to = __funnelshift_r(w[0], w[1], off * 8); w++; }
    }
    while (length--) *to++ = *from++;
}
extern "C" __global__ void k9310(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) unsigned char a[64 * 24 + 64], b[64 * 24 + 64];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    for (unsigned k = t; k < sizeof a; k += blockDim.x) { a[k] = (unsigned char)(k * 7); b[k] = 1; }
    __syncthreads();
    unsigned length = (t * 5 + n) % 20;
    copy(b + t * 24 + (t % 5), a + t * 23 + n, length);
    __syncthreads();
    acc += s[(b[t * 24 + 4] * 4 + b[t * 24 + 5]) & 1023];
    unsigned w = *(unsigned*)(b + t * 24 + 8);
    acc += s[(w ^ w >> 17) & 1023];
    if (w & 0x100) { copy(a + t * 24, b + t * 24 + 1, 9); acc += s[(*(unsigned*)(a + t * 24 + 4) >> 8) & 1023]; }
    else copy(a + t * 24 + 3, (const unsigned char*)(src + t) + 2, t & 15);
    acc += s[(*(unsigned short*)(a + t * 24 + 6) * 3) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
