// launch 2 96 n=4 cluster=2x1x1 shared=9216
// launch 4 160 n=7 cluster=2x1x1 shared=9216
// launch 4 75 n=2 cluster=4x1x1 shared=9216
// Blocks of a cluster each load a slice of every stage and multicast it; consumer warps release a stage in all blocks by arrivals afar; persistent tiles come from data of the cluster.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void expect(unsigned bar, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ bool elected() {
    unsigned ok;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(ok));
    return ok;
}

__device__ __forceinline__ unsigned rank_here() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned ranks() { unsigned r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void arrive_afar(unsigned bar, unsigned rank) {
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" :: "r"(bar), "r"(rank) : "memory");
}
__device__ __forceinline__ bool passed(unsigned bar, unsigned parity) {
    unsigned ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(bar), "r"(parity) : "memory");
    return ok;
}
__device__ __forceinline__ void wait(unsigned bar, unsigned parity) { if (!passed(bar, parity)) do __nanosleep(32); while (!passed(bar, parity)); }
__device__ __forceinline__ void multicast(unsigned to, const unsigned* from, unsigned bytes, unsigned bar, unsigned short mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
        :: "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(bar), "h"(mask) : "memory");
}

extern "C" __global__ void k9978(unsigned* out, const unsigned* src, unsigned n, float f) {
    extern __shared__ __align__(1024) unsigned char space[];
    unsigned long long* const bars = (unsigned long long*)(space + 8192);
    unsigned* const plan = (unsigned*)(space + 8192 + 128);
    __shared__ unsigned stash[128 * 5];
    const unsigned t = threadIdx.x, lane = t & 31, warp = __shfl_sync(0xffffffffu, t / 32, 0), consumers = (blockDim.x + 31) / 32 - 1;
    const unsigned rank = rank_here(), size = ranks(), team = blockIdx.x / size;
    if (t < 4) { init(sa(bars + t), 1); init(sa(bars + 4 + t), consumers * size); }
    if (t == 0) for (unsigned i = 0; i < 8; i++) plan[i] = src[n * 88 + team * 300 + i * 43];
    fence_init();
    meet();
    const unsigned tiles = 2 + plan[0] % 5;
    unsigned stage = 0, phase = 0;
    if (warp == 0) {
        if (elected())
            for (unsigned tile = 0; tile < tiles; tile++) {
                const unsigned word = plan[1 + tile], blocks = word % 5;
                for (unsigned k = 0; k < blocks; k++) {
                    wait(sa(bars + 4 + stage), phase ^ 1);
                    expect(sa(bars + stage), 2048);
                    const unsigned words = 512 / size, from = ((word * 8 + k * 140) % 3584 & ~3u) + rank * words;
                    multicast(sa(space) + stage * 2048 + rank * words * 4, src + from, words * 4, sa(bars + stage), (1 << size) - 1);
                    stage = (stage + 1) & 3;
                    phase ^= stage == 0;
                }
            }
    } else {
        const unsigned ct = t - 32;
        unsigned acc = rank;
        for (unsigned tile = 0; tile < tiles; tile++) {
            const unsigned word = plan[1 + tile], blocks = word % 5;
            if (blocks == 0) continue;
            for (unsigned k = 0; k < blocks; k++) {
                wait(sa(bars + stage), phase);
                const unsigned char* base = space + stage * 2048;
                const unsigned row = ct / 4 & 15;
                const uint4 v = *(const uint4*)(base + row * 128 + ((ct & 3 | rank << 2 & 4) ^ row & 7) * 16);
                acc += v.x ^ v.y ^ v.z ^ v.w;
                if ((v.x ^ lane) & 1) acc += *(const unsigned*)(base + lane * 64 % 2048 + (k << 2));
                else acc ^= *(const unsigned*)(base + (acc * 4 & 2044));
                __syncwarp();
                if (lane < size) arrive_afar(sa(bars + 4 + stage), lane);
                stage = (stage + 1) & 3;
                phase ^= stage == 0;
            }
            const unsigned pitch = 1 + (word >> 3) % 5;
            stash[ct * pitch] = acc;
            asm volatile("bar.sync 1, %0;" :: "r"(consumers * 32) : "memory");
            acc += stash[(ct + 7) % (blockDim.x - 32) * pitch];
            asm volatile("bar.sync 1, %0;" :: "r"(consumers * 32) : "memory");
        }
        out[blockIdx.x * blockDim.x + t] = acc;
    }
    __syncwarp();
    meet();
}
