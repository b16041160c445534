// launch 1 64 n=3
// launch 1 32 n=11
// cp.async with a register as the source size, with ignore-src, into tiles whose edges are guarded; arrivals on an mbarrier.
extern "C" __global__ void k9777(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(128) unsigned tile[64 * 4], one[64];
    __shared__ unsigned long long bar;
    unsigned a = (unsigned)__cvta_generic_to_shared(tile), o = (unsigned)__cvta_generic_to_shared(one), b = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(T) : "memory");
    __syncthreads();
    unsigned size = t % 5 == 0 ? 0 : t < n * 4 ? 16 : 8;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(a + ((t * 5) % T) * 16), "l"(src + t * 4), "r"(size) : "memory");
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %2, %3; cp.async.ca.shared.global [%0], [%1], 4, p; }" :: "r"(o + t * 4), "l"(src + t * 9), "r"(l), "r"(n) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(b) : "memory");
    asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(b) : "memory");
    acc += s[tile[t * 4] & 1023] + s[tile[(t * 4 + 3) % (T * 4)] & 1023] + s[one[t ^ 1] & 1023] + s[(one[T - 1 - t] * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
