// launch 1 96 n=3
// launch 2 160 n=11
// launch 1 384 n=6
// launch 2 75 n=5
// Producer warp by threadIdx/32, one thread of it fills a ring of four stages by bulk copies; consumer warps read swizzled vectors and columns.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
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

extern "C" __global__ void k9967(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(1024) unsigned char stages[4 * 2048];
    __shared__ unsigned long long full[4], empty[4];
    __shared__ unsigned plan[12], epilogue[384 * 4];
    const unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, consumers = (blockDim.x + 31) / 32 - 1;
    if (t == 0) {
        for (unsigned i = 0; i < 4; i++) { init(sa(full + i), 1); init(sa(empty + i), consumers); }
        fence_init();
        plan[0] = 2 + src[n * 41 + blockIdx.x * 9] % 5;
        for (unsigned i = 1; i < 12; i++) plan[i] = src[(n * 131 + blockIdx.x * 77 + i * 61) & 4095];
    }
    __syncthreads();
    const unsigned tiles = plan[0];
    unsigned stage = 0, phase = 0;
    if (warp == 0) {
        if (lane == 0) {
            for (unsigned tile = 0; tile < tiles; tile++) {
                const unsigned blocks = 1 + plan[1 + tile] % 6;
                for (unsigned k = 0; k < blocks; k++) {
                    wait(sa(empty + stage), phase ^ 1);
                    expect(sa(full + stage), 2048);
                    const unsigned from = (plan[1 + tile] * 4 + k * 52) % 3584 & ~3u;
                    bulk(sa(stages) + stage * 2048, src + from, 1024, sa(full + stage));
                    bulk(sa(stages) + stage * 2048 + 1024, src + from + 256, 1024, sa(full + stage));
                    if (++stage == 4) { stage = 0; phase ^= 1; }
                }
            }
        }
    } else {
        const unsigned ct = t - 32, row = ct / 8 % 16, chunk = ct % 8 ^ row % 8;
        unsigned acc = 0;
        for (unsigned tile = 0; tile < tiles; tile++) {
            const unsigned blocks = 1 + plan[1 + tile] % 6;
            for (unsigned k = 0; k < blocks; k++) {
                wait(sa(full + stage), phase);
                const unsigned char* base = stages + stage * 2048;
                uint4 v = *(const uint4*)(base + row * 128 + chunk * 16);
                acc += v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7;
                acc += *(const unsigned*)(base + lane % 16 * 128 + (k + warp) % 32 * 4);
                uint2 w = *(const uint2*)(base + ((lane * 64 + (tile & 7) * 8) & 2047));
                acc ^= w.x + w.y;
                __syncwarp();
                if (lane == 0) arrive(sa(empty + stage));
                if (++stage == 4) { stage = 0; phase ^= 1; }
            }
            epilogue[ct * (1 + tile % 4)] = acc;
            __syncwarp();
            acc += epilogue[ct * (1 + tile % 4)] >> 3;
            __syncwarp();
            if (tile + 1 < tiles) asm volatile("bar.sync 1, %0;" :: "r"(consumers * 32) : "memory");
        }
        out[blockIdx.x * blockDim.x + t] = acc;
    }
}
