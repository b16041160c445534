// launch 1 64 n=5
// launch 2 96 n=300
// launch 4 33 n=77
// launch 2 5x7x3 n=16
// predicated stores, vectors of bytes, offsets below nought, cache hints, and cp.async that carries changed words,
// unchanged words or zeros (a source size that is smaller, or nought) into shared memory, where they are read as
// indices
static __device__ void st_if(unsigned* p, unsigned v, unsigned c) {
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %2, 0; @q st.global.u32 [%0], %1; }"
                 :: "l"(p), "r"(v), "r"(c) : "memory");
}
static __device__ void st_below(unsigned* p, unsigned v) {
    asm volatile("st.global.cs.u32 [%0+-16], %1;" :: "l"(p), "r"(v) : "memory");
}
static __device__ void st_bytes(unsigned* p, unsigned a, unsigned b) {
    asm volatile("st.global.v4.u8 [%0], {%1, %2, %1, %2};" :: "l"(p), "r"(a), "r"(b) : "memory");
}
static __device__ void st_pair(unsigned* p, unsigned a, unsigned b) {
    asm volatile("st.global.wt.v2.u32 [%0+8], {%1, %2};" :: "l"(p), "r"(a), "r"(b) : "memory");
}
static __device__ unsigned ld_relaxed(const unsigned* p) {
    unsigned v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
static __device__ unsigned ld_third(const unsigned* p) {
    unsigned a, b, c, d;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
    return c + a - a + 0 * (b + d);
}
static __device__ void copy(unsigned* to, const unsigned* from, unsigned size) {
    unsigned d = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(d), "l"(from), "r"(size) : "memory");
}
static __device__ void copy_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }
extern "C" __global__ void k9863(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) unsigned u[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 9;
    __syncthreads();
    unsigned r = (blockIdx.x * nt + t) * 16;
    unsigned* g = out + r;
    unsigned* h = (unsigned*)src + r;
    st_if(g, l * 4, l % 3 == 1);
    acc += s[ld_relaxed(g) & 1023];
    st_if(g + 1, 5, n > 1000);                                    // never
    acc += s[(ld_relaxed(g + 1) >> 2) & 1023];
    st_below(g + 8, l * 2 + 1);                                   // g 4
    acc += s[(ld_relaxed(g + 4 + (l & 1)) * 2) & 1023];
    st_bytes(g + 8, l, n);
    acc += s[(ld_relaxed(g + 8) >> 6) & 1023] + s[(ld_relaxed(g + 9) >> 4) & 1023];
    st_pair(g + 4, l * 32, l);                                    // g 6 and 7
    acc += s[(ld_third(g + 4) + l) & 1023] + s[(ld_third(g + 12) >> 1) & 1023];     // changed; not changed
    st_if(h + 1, l * 8, 1);
    st_if(h + 2, ld_relaxed(h + 1) + 1, ld_relaxed(h) & 1);
    acc += s[ld_third(h) & 1023] + s[(ld_third(h + 4) * 2) & 1023];
    __threadfence_block();
    __syncthreads();
    copy(u + t * 4, (l & 1) ? g + 4 : h, (l & 3) * 4 + 4);        // 4 to 16 bytes, then zeros
    copy_done();
    __syncthreads();
    acc += s[u[(t * 4 + (l >> 2 & 3))] & 1023];
    acc += s[(u[((t + 1) % nt) * 4 + 1] * 2) & 1023];
    __syncthreads();
    copy(u + t * 4, h + 8, l < 5 ? 0 : 12);                       // not changed, or zeros
    copy_done();
    acc += s[(((volatile unsigned*)u)[t * 4 + (l & 3)] * 4 + (l >> 3)) & 1023];
    g[15] = acc;
}
