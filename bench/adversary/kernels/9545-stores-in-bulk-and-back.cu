// launch 1 64 n=1
// launch 1 96 n=2
// Rows go to global memory by bulk stores and reductions, are waited for, and come back as indices.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void expect(unsigned long long* b, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(AT(b)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void bulk(void* to, const void* from, unsigned bytes, unsigned long long* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(AT(to)), "l"(from), "r"(bytes), "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9545(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned row[128], back[128];
    __shared__ unsigned long long bar;
    if (t == 0) init(&bar, 1);
    for (unsigned k = t; k < 128; k += T) { row[k] = (k * 3) & 63; back[k] = 1; }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (w == 1) {
        unsigned p; asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(p));
        if (p) {
            unsigned* there = out + 3328 + blockIdx.x * 128;
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(there), "r"(AT(row)) : "memory");
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" :: "l"(there), "r"(AT(row)) : "memory");
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
            expect(&bar, 512);
            asm volatile("fence.proxy.async;" ::: "memory");
            bulk(back, there, 512, &bar);
            acc += s[(row[n] * 2) & 1023];
        }
    } else acc += s[(l * (row[l] & 3)) & 1023];
    wait(&bar, 0);
    unsigned a = back[l], b = back[64 + l];
    acc += s[(a * 4) & 1023] + s[(b * 8) & 1023];
    if (a == 2 * row[l]) s[(l * 2) & 1023] = a; else s[(l * 6) & 1023] = b;
    __syncthreads();
    acc += s[(row[l] * 16) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
