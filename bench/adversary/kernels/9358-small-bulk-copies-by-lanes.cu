// launch 1 32 n=2
// launch 1 40 n=5
// launch 2 64 n=3
// Bulk copies of 16, 32 and 48 bytes, each started by its own lane, to rows with a stride of its own, then shared to shared of the cluster; two phases of one mbarrier.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned bar, unsigned phase) { unsigned done = 0; while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(phase) : "memory"); }
extern "C" __global__ void k9358(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(128) unsigned d[20 * 64]; __shared__ __align__(8) unsigned long long bar;
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0, bytes = (t % 3 + 1) * 16;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 20 * 64; k += T) d[k] = k & 15;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1; fence.mbarrier_init.release.cluster;" :: "r"(at(&bar)), "r"(T) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(&bar)), "r"(t & 1 ? 0u : bytes) : "memory");
    if (!(t & 1)) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(at(d + t * 20)), "l"(src + ((t * 12 + n * 4) & 1020)), "r"(bytes), "r"(at(&bar)) : "memory");
    wait(at(&bar), 0);
    unsigned q = (t * 3 + 1) % T;
    acc += s[(d[q * 20 + 2] * 4) & 1023];
    acc += s[(d[q * 20 + (t & 15)] + t * 8) & 1023];
    uint4 v = *(uint4*)(d + q * 20 + 4); if (v.x & 1) s[(v.y * 2) & 1023] = acc; else acc += s[(v.z + v.w) & 1023];
    d[t * 20 + 16] = v.x + t; d[t * 20 + 17] = t * n; d[t * 20 + 18] = q; d[t * 20 + 19] = 3;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" :: "r"(at(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" :: "r"(at(d + ((t + 1) % T) * 20)), "r"(at(d + t * 20 + 16)), "r"(at(&bar)) : "memory");
    wait(at(&bar), 1);
    acc += s[(d[t * 20] * 32 + d[t * 20 + 2]) & 1023];
    for (unsigned k = 0; k < (d[t * 20 + 1] & 3); k++) acc += s[(d[t * 20 + 2] * 4 + k * 33) & 1023];
    s[(d[t * 20 + 3] * t + d[q * 20 + 8]) & 1023] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
