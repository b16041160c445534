// launch 1 64 n=2
// launch 1 128 n=4
// launch 2 96 n=3
// Rows that bulk copies bring from global memory are indices, trip counts and truths; one stage is read while the next is copied.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void expect(unsigned long long* b, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(AT(b)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void bulk(void* to, const void* from, unsigned bytes, unsigned long long* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(AT(to)), "l"(from), "r"(bytes), "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9509(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned row[2][128];
    __shared__ unsigned long long bar[2];
    if (t < 2) init(bar + t, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (t < 256) row[t >> 7][t & 127] = 0;
    __syncthreads();
    if (t == 0) { expect(bar, 512); bulk(row[0], src + 128, 512, bar); }
    for (unsigned i = 0; i < n; i++) {
        if (t == 0 && i + 1 < n) { expect(bar + (i + 1 & 1), 512); bulk(row[(i + 1) & 1], src + 128 * (i + 2), 512, bar + (i + 1 & 1)); }
        wait(bar + (i & 1), (i >> 1) & 1);
        unsigned a = row[i & 1][t & 127], trips = row[i & 1][i] & 3;
        acc += s[(a * 2) & 1023];
        for (unsigned k = 0; k < trips; k++) s[(l * 3 + k * 32) & 1023] = k;
        if (a & 4) acc += s[(l * (a & 7)) & 1023];
        if (row[i & 1][n] & 1) acc += s[(l * 6) & 1023];
        __syncthreads();
    }
    acc += s[(l * row[0][5]) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
