// launch 1 32 n=0
// launch 2 64 n=1
// launch 1 104 n=2
// launch 2 237 n=3
// Lanes initialise 24 barriers in one instruction (strides and counts differ), arrive at them and expect bulk copies by lane, invalidate them, use their words, and initialise again.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void inval(unsigned bar) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ void expect(unsigned bar, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ bool passed(unsigned bar, unsigned parity) {
    unsigned ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(bar), "r"(parity) : "memory");
    return ok;
}
__device__ __forceinline__ void wait(unsigned bar, unsigned parity) {
    if (passed(bar, parity)) return;
    unsigned ns = 16;
    do { __nanosleep(ns); if (ns < 256) ns *= 2; } while (!passed(bar, parity));
}
__device__ __forceinline__ void bulk(unsigned to, const void* from, unsigned bytes, unsigned bar) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(bar) : "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

extern "C" __global__ void k9976(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned long long bars[24 * 17];
    __shared__ alignas(128) unsigned box[8 * 36];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const unsigned stride = n == 0 ? 1 : n == 1 ? 2 : n == 2 ? 16 : 17;
    unsigned acc = 0;
    for (unsigned i = t; i < 8 * 36; i += blockDim.x) box[i] = i;
    fence_async();
    for (unsigned round = 0; round < 2 + (n & 1); round++) {
        const unsigned step = round == 1 ? 1 : stride, here = sa(bars + lane * step);
        if (warp == 0 && lane < 24) init(here, lane < 16 ? (blockDim.x - lane + 31) / 32 : 1);
        fence_init();
        fence_async();
        __syncthreads();
        for (unsigned k = 0; k < 3; k++) {
            if (lane < 16) arrive(here);
            if (warp == 0 && lane >= 16 && lane < 24) {
                const unsigned which = lane - 16, bytes = 16 * (which + 1);
                expect(here, bytes);
                bulk(sa(box + which * 36), src + which * 64 + k * 8 + round * 4, bytes, here);
            }
            wait(sa(bars + (t & 15) * step), k & 1);
            if (lane & 1) wait(sa(bars + (16 + (t >> 1 & 7)) * step), k & 1);
            __syncwarp();
            if (lane % 2) acc += box[(t >> 1 & 7) * 36 + (t >> 4) % 4];
            if (lane % 4 == 3) acc ^= box[(t >> 1 & 7) * 36];
            for (unsigned q = 0; q < 8; q++) wait(sa(bars + (16 + q) * step), k & 1);
            acc += box[(lane & 7) * 36 + (k & 3)];
            acc += ((const uint4*)box)[(lane & 7) * 9].y;
            __syncthreads();
        }
        if (warp == 0 && lane < 24) inval(here);
        __syncthreads();
        if (t < 24) bars[t * step] = t * 3 + acc;
        __syncthreads();
        acc += (unsigned)bars[(t % 24) * step];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
