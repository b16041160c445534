// launch 2 64 n=1
// launch 1 288 n=8
// launch 4 115 n=13
// A scheduler thread hands tile records through a ring of two (full and empty barriers); workers break at the stop record, continue past empty tiles.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
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
__device__ __forceinline__ void spin(unsigned bar, unsigned parity) {
    asm volatile("{ .reg .pred p; AGAIN_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 1000; @p bra OVER_%=; bra AGAIN_%=; OVER_%=: }" :: "r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void bar_sync(unsigned id, unsigned count) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory"); }

extern "C" __global__ void k9969(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) uint4 records[2];
    __shared__ unsigned long long full[2], empty[2];
    __shared__ unsigned scratch[288 * 4], table[1024];
    const unsigned t = threadIdx.x, lane = t & 31, warp = __shfl_sync(0xffffffffu, t / 32, 0), warps = (blockDim.x + 31) / 32;
    for (unsigned i = t; i < 1024; i += blockDim.x) table[i] = src[i * 3];
    for (unsigned i = t; i < 288 * 4; i += blockDim.x) scratch[i] = i;
    if (t < 2) { init(sa(full + t), 1); init(sa(empty + t), warps - 1); }
    __syncthreads();
    if (warp == 0) {
        if (lane == 0) {
            unsigned slot = 0, phase = 0, left = 3 + src[n * 19] % 6;
            for (unsigned tile = blockIdx.x;; tile += gridDim.x) {
                const unsigned word = src[(tile * 211 + n * 5) & 4095];
                spin(sa(empty + slot), phase ^ 1);
                records[slot] = make_uint4(left == 0 ? ~0u : tile, word % 4, word / 4 % 7, 1 + word / 32 % 4);
                arrive(sa(full + slot));
                slot ^= 1;
                phase ^= slot == 0;
                if (left-- == 0) break;
            }
        }
        return;
    }
    const unsigned ct = t - 32, threads = blockDim.x - 32;
    unsigned acc = ct;
    for (unsigned step = 0;; step++) {
        const unsigned slot = step & 1;
        wait(sa(full + slot), step >> 1 & 1);
        const uint4 r = records[slot];
        __syncwarp();
        if (lane == 0) arrive(sa(empty + slot));
        if (r.x == ~0u) break;
        if (r.y == 0) { acc += table[(ct * 32 + r.x) & 1023]; continue; }
        for (unsigned k = 0; k < r.z; k++) {
            acc += table[(ct * r.w + k * 33) & 1023];
            if ((acc ^ lane) & 2) acc += table[(acc + ct * r.y) & 1023];
            if (table[(r.x * 7 + k) & 1023] % 5 == 4) break;
        }
        scratch[ct * r.w] = acc;
        bar_sync(1, (warps - 1) * 32);
        for (unsigned j = 0; j < r.y; j++) acc += scratch[(ct * (j + 1) + j) % threads * r.w] & 255;
        bar_sync(1, (warps - 1) * 32);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
