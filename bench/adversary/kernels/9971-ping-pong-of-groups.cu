// launch 1 384 n=5
// launch 2 96 n=12
// launch 1 192 n=7
// Two consumer groups take turns by named barriers (sync on their own, arrive at the other); a producer group feeds both; epilogues through stmatrix per group.
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
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void bar_sync(unsigned id, unsigned count) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory"); }
__device__ __forceinline__ void bar_arrive(unsigned id, unsigned count) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(count) : "memory"); }
__device__ __forceinline__ bool elected() {
    unsigned ok;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(ok));
    return ok;
}
__device__ __forceinline__ void stm4(unsigned a, unsigned x, unsigned y, unsigned z, unsigned w) { asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(a), "r"(x), "r"(y), "r"(z), "r"(w) : "memory"); }

extern "C" __global__ void k9971(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(1024) unsigned char stages[3][2048];
    __shared__ alignas(128) unsigned char epilogue[2][4096];
    __shared__ unsigned scores[256 * 9];
    __shared__ unsigned long long full[3], empty[3];
    __shared__ unsigned plan[9];
    const unsigned t = threadIdx.x, size = blockDim.x / 3, group = __shfl_sync(0xffffffffu, t / size, 0), gt = t % size;
    const unsigned lane = t & 31, gwarp = gt >> 5;
    if (t < 9) plan[t] = src[n * 97 + blockIdx.x * 31 + t * 29];
    if (t == 32) {
        for (unsigned i = 0; i < 3; i++) { init(sa(full + i), 1); init(sa(empty + i), size / 16); }
        fence_init();
    }
    __syncthreads();
    const unsigned tiles = 2 + plan[0] % 4;
    unsigned stage = 0, phase = 0;
    if (group == 0) {
        if (gwarp == 0 && elected()) {
            for (unsigned tile = 0; tile < tiles; tile++)
                for (unsigned k = 0; k <= plan[1 + tile] % 5; k++) {
                    wait(sa(empty + stage), phase ^ 1);
                    expect(sa(full + stage), 2048);
                    bulk(sa(stages[stage]), src + ((plan[1 + tile] + k * 100) % 3584 & ~3u), 2048, sa(full + stage));
                    if (++stage == 3) { stage = 0; phase ^= 1; }
                }
        }
        return;
    }
    const unsigned me = group - 1;
    unsigned* mine = scores + (me * size + gt) * 9;
    unsigned acc = 0, best = 0;
    if (me == 1) bar_arrive(1, 2 * size);
    for (unsigned tile = 0; tile < tiles; tile++) {
        for (unsigned k = 0; k <= plan[1 + tile] % 5; k++) {
            wait(sa(full + stage), phase);
            bar_sync(1 + me, 2 * size);
            const unsigned char* base = stages[stage];
            unsigned partial = 0;
            for (unsigned j = 0; j < 8; j++) {
                const unsigned row = gt & 15, v = *(const unsigned*)(base + row * 128 + ((j ^ row & 7) << 4) + (gt >> 4 & 3) * 4);
                mine[j] = v + partial;
                partial += v;
            }
            bar_arrive(2 - me, 2 * size);
            __syncwarp();
            if (lane == 0) arrive(sa(empty + stage));
            if (partial > best) { best = partial; for (unsigned j = 0; j < 8; j += 2) acc += mine[j]; }
            else acc ^= mine[(partial + k) & 7];
            if (++stage == 3) { stage = 0; phase ^= 1; }
        }
        const unsigned at = sa(epilogue[me]) + gwarp * 1024, row = lane & 15;
        for (unsigned j = 0; j < 2; j++) {
            const unsigned chunk = j * 2 + (lane >> 4);
            stm4(at + row * 64 + ((tile & 1 ? chunk : chunk ^ (row >> 1 & 3)) << 4), acc, acc + j, best, best ^ j);
        }
        bar_sync(4 + me, size);
        for (unsigned i = gt; i < size * 2; i += size) {
            const unsigned r = i >> 2 & 15, c = i & 3;
            const uint4 v = *(const uint4*)(epilogue[me] + (i >> 6) * 1024 + r * 64 + ((c ^ (r >> 1 & 3)) << 4));
            acc += v.x ^ v.y ^ v.z ^ v.w;
        }
        bar_sync(4 + me, size);
    }
    if (me == 0) bar_sync(1, 2 * size);
    out[blockIdx.x * blockDim.x + t] = acc;
}
