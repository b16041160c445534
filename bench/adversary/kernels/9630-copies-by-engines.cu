// launch 1 64 n=2
// launch 2 32 n=1
// cp.async.bulk into shared memory and back, reductions in bulk, prefetches to L2, by one lane and by several; loads around them.
extern "C" __global__ void k9630(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned s[2048]; __shared__ __align__(8) unsigned long long bar;
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, b = (unsigned)__cvta_generic_to_shared(s), m = (unsigned)__cvta_generic_to_shared(&bar), acc = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(m)); __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(m), "r"(1024 + 256));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(b), "l"(src + n * 4), "r"(m) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(b + 4096), "l"(src + 1024), "r"(m) : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(m));
    acc += s[t] + s[1024 + (t & 63)] + src[g * 3]; s[t] = acc; asm volatile("fence.proxy.async.shared::cta;"); __syncthreads();
    if (t < 2) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%2], [%1], 64; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" :: "l"(out + 512 * blockIdx.x + t * 64), "r"(b + t * 64), "l"(out + 4096 + t * 32) : "memory");
    if (t == 3) asm volatile("cp.async.bulk.prefetch.L2.global [%0], 512;" :: "l"(src + 256));
    out[8192 + g * 2] = acc;
}
