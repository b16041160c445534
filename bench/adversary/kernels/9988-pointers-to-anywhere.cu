// launch 1 96 n=4
// launch 2 64 n=11
// launch 1 110 n=26
// Generic pointers by lane: shared, global, local and constant arrays meet in one 128-, 64- or 8-bit load or store after divergent choices (some after isspacep, some through a table of pointers kept in shared memory), with a list threaded by pointers from one space to the other.
__constant__ alignas(16) unsigned fixed[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__device__ alignas(16) const unsigned afar[64] = {7, 2, 11, 3, 19, 8, 5, 4, 23, 1, 6, 60, 2, 9, 31, 12, 44, 5, 3, 8, 17, 2, 40, 1, 9, 9, 13, 6, 28, 3, 50, 2};
struct Link { const Link* next; unsigned value, pad; };
__device__ __noinline__ unsigned sum4(const uint4* p, unsigned many, unsigned step) {
    unsigned acc = 0;
    for (unsigned i = 0; i < many; i++) { const uint4 v = p[i * step]; acc += v.x + (v.y ^ v.z) + v.w; if (v.x % 6 == 5) break; }
    return acc;
}

extern "C" __global__ void k9988(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned here[128 * 12];
    __shared__ alignas(16) Link links[128];
    __shared__ const unsigned* table[40];
    __shared__ volatile unsigned flags[128];
    const unsigned t = threadIdx.x, lane = t & 31;
    alignas(16) unsigned mine[32];
    #pragma unroll 1
    for (unsigned i = 0; i < 32; i++) mine[i] = src[(t * 5 + i * 40 + n) & 4095];
    for (unsigned i = t; i < 1536; i += blockDim.x) here[i] = src[(i * 3 + n) & 4095];
    for (unsigned i = t; i < 40; i += blockDim.x) table[i] = i % 5 == 0 ? afar + (i & 15) : i % 5 == 3 ? src + i * 11 : here + i * (n & 1 ? 36 : 32);
    for (unsigned i = t; i < 128; i += blockDim.x) flags[i] = i * 5 & 127;
    Link local[2];
    __syncthreads();
    unsigned acc = 0;
    const unsigned kind = (src[(t * 29 + n * 3) & 4095] >> 2) & 3;
    for (unsigned r = 0; r < 4; r++) {
        const unsigned* p;
        if (kind == r) p = mine + (lane & 3) * 4;
        else if ((lane ^ r) & 4) p = here + (lane * (1 + r) & 63) * 12;
        else if (lane & 1) p = fixed + (lane & 12);
        else p = src + ((lane * 60 + r * 4) & 1023) * 4;
        const uint4 v = *(const uint4*)p;
        acc += v.x ^ v.w;
        __syncthreads();
        unsigned* w = (v.y & 1) ? mine + (v.y >> 1 & 30) : here + t * 12 + (v.z & 10);
        asm volatile("" : "+l"(w));
        *(uint2*)w = make_uint2(v.x + r, acc);
        const unsigned char* b = (const unsigned char*)((lane & 2) ? (const unsigned*)w : here + t * 12) + (acc & 3);
        acc += *b;
        if (__isShared(w)) {
            acc += *(volatile unsigned short*)((unsigned char*)w + 2);
            atomicAdd(w, 3u);
        } else if (__isLocal(w)) acc ^= w[1] * 3;
        __syncthreads();
        const unsigned* const far = table[(v.x + lane) % 40];
        acc += far[(r * 3 + lane) & 15] & 255;
        __syncthreads();
    }
    __syncthreads();
    acc += sum4((const uint4*)((acc & 3) == 0 ? mine : (acc & 3) == 1 ? here + (lane & 7) * 36 : (acc & 3) == 2 ? src + lane * 64 : here + lane * 24), 1 + (acc >> 4) % 3, 1 + (lane & 1));
    Link* const chain = links + t;
    chain->value = acc;
    chain->pad = lane;
    local[0].value = acc * 3;
    local[0].pad = 1;
    local[1].value = 9;
    local[1].pad = n & 3;
    local[1].next = 0;
    local[0].next = (lane % 3 == 1) ? links + ((t + 7) & ~31u) % 64 + (lane & 15) : local + 1;
    chain->next = (acc & 6) == 2 ? 0 : links + ((t & ~31u) + ((lane * 11 + 5) & 31)) % blockDim.x;
    __syncthreads();
    const Link* at = (lane & 1) ? local : chain;
    unsigned steps = 0;
    while (at && steps < 9) {
        acc += at->value;
        if (at->pad & 16) { steps += 2; acc ^= flags[(at->value >> 2) & 127]; }
        at = at->next;
        steps++;
    }
    const volatile unsigned* q = (steps & 1) ? (const volatile unsigned*)flags : (const volatile unsigned*)mine;
    for (unsigned i = lane & 7; i < 32; i = i * 2 + 1) acc += q[i];
    __shared__ unsigned tail[110 * 3];
    void (*put)(unsigned*, unsigned) = (acc & 8) ? +[](unsigned* s, unsigned v) { s[0] = v; s[2] = v >> 3; } : +[](unsigned* s, unsigned v) { s[1] = v; *(unsigned char*)(s + 2) = v; };
    tail[t * 3] = tail[t * 3 + 1] = tail[t * 3 + 2] = t;
    put((steps & 3) == 2 ? mine + 5 : tail + t * 3, acc);
    __syncthreads();
    for (unsigned i = 0; i < 3; i++) acc += tail[(t * 3 + i * 31) % (blockDim.x * 3)] + mine[(acc & 7) + 4];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
