// launch 1 64 n=3
// launch 2 32 n=6
// Generic pointers to shared, global, local and constant memory: chosen by lane, kept in arrays, advanced, compared, tested.
__constant__ unsigned table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
extern "C" __global__ void k9767(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned own[16];
    for (unsigned i = 0; i < 16; i++) own[i] = i * n;
    const unsigned* where[4] = {s + l, src + t * 2, own + (l & 7), table + (l & 15)};
    for (unsigned k = 0; k < n; k++) { const unsigned* p = where[(t + k) & 3]; acc += p[k & 7]; where[k & 3] = p + 1; }
    const unsigned* q = l < 10 ? s + l * 4 : l < 20 ? src + l : own + (l & 3);
    for (unsigned k = 0; k < 3; k++, q++) acc += *q;
    if (__isShared(q)) acc += s[(t * 8) & 1023];
    if (__isLocal(q)) acc += s[(t * 16) & 1023];
    if (__isGlobal(q)) acc += s[(t * 32) & 1023];
    unsigned* r = (l & 1) ? s + t : out + 1024 + t;
    *r = acc; atomicAdd(r, 1);
    acc += *(volatile unsigned*)((l & 1) ? s + ((t * 3) & 1023) : out + 2048 + t);
    unsigned back = (unsigned)__cvta_generic_to_shared(s + l * 2);
    acc += *(unsigned*)__cvta_shared_to_generic(back + n * 4);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
