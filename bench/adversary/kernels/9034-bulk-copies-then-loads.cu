// launch 1 32 n=1
// launch 2 64 n=2
// A bulk copy completed at an mbarrier, then loads of its data as indices, then a bulk copy out.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9034(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned s[1024], d[512]; __shared__ __align__(8) unsigned long long bar;
    unsigned t = threadIdx.x, acc = 0, done = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(at(&bar)) : "memory"); }
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(at(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(at(d)), "l"(src), "r"(at(&bar)) : "memory");
    }
    while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)) : "memory");
    acc += s[(d[t & 255] * 4) & 1023];
    acc += s[(d[(t * 3) & 255] + t) & 1023];
    d[256 + (t & 255)] = acc;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" :: "l"(out + 2048), "r"(at(d + 256)) : "memory"); }
    acc += s[(t * 2 + n) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 1023] = acc;
}
