// launch 1 64 n=3
// launch 2 96 n=300
// launch 4 33 n=14
// launch 2 5x7x3 n=9
// one function stores for every caller: into out, into src, into local memory and into shared memory; a recursion
// writes its words on the way down and reads them on the way up; the words between are read by the same function
// and stay
__shared__ unsigned s9859[1024];
static __device__ __noinline__ void put(unsigned* p, unsigned i, unsigned v) { p[i] = v; }
static __device__ __noinline__ unsigned get(const unsigned* p, unsigned i) {
    unsigned v = p[i];
    return v + s9859[v & 1023] * 0x10000;
}
static __device__ __noinline__ unsigned walk(unsigned* p, unsigned depth, unsigned x) {
    unsigned before = p[depth];
    unsigned a = s9859[(before * 4 + x) & 1023];
    p[depth] = before + x * 2;
    if (depth == 0) return a;
    unsigned below = walk(p, depth - 1, p[depth] & 31);
    if (p[depth - 1] & 1) p[depth] ^= 64;                         // what the deeper call wrote decides
    return a + below + s9859[(p[depth] * 2) & 1023];
}
extern "C" __global__ void k9859(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned u[256];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s9859[i] = i ^ 3;
    for (unsigned i = t; i < 256; i += nt) u[i] = i;
    __syncthreads();
    unsigned r = (blockIdx.x * nt + t) * 16;
    unsigned* g = out + r;
    unsigned* h = (unsigned*)src + r;
    unsigned loc[4] = {t, t + 1, t + 2, t + 3};
    put(g, l & 3, l * 6);
    put(h, 4 + (n & 3), n + l * 4);
    put(loc, n & 3, l * 16);
    put(u, t, t * 2);
    acc += get(g, (l + 1) & 3) + get(g, 3 & l) + get(h, 4 + (l & 3)) + get(h, 8 + (l & 3));
    acc += get(loc, l & 3) + get(u, t);
    acc += walk(g + 5, 1 + (l & 1), l);
    acc += walk(h + 9, 2, n & 7);                                 // h 9 to 11
    acc += s9859[(h[8] * 2 + 1) & 1023] + s9859[(h[11] * 2) & 1023];
    acc += s9859[(g[8 + (l & 3)] >> 2) & 1023] + s9859[g[7 - (l & 1)] & 1023];   // g 7 is written in odd lanes alone
    acc += get(h, 12) + get(g, 4);
    put(g, 15, acc);
}
