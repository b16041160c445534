// launch 1 128 n=4
// launch 2 160 n=9
// launch 1 96 n=15
// A ring of three: the producer warp fills tiles of lengths from src by cp.async with noinc arrivals and a bulk copy by transaction bytes, consumers of two roles (rows, or columns) drain them, meeting each other at a named barrier every second tile; one role leaves early.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ void expect(unsigned bar, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void copies_arrive(unsigned bar) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(bar) : "memory"); }
__device__ __forceinline__ void copy16(unsigned to, const unsigned* from, unsigned bytes) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void bulk(unsigned to, const void* from, unsigned bytes, unsigned bar) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(bar) : "memory"); }
__device__ __forceinline__ void wait(unsigned bar, unsigned parity) {
    unsigned ok;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(bar), "r"(parity) : "memory"); while (!ok);
}
__device__ __forceinline__ void meet(unsigned id, unsigned threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }
__shared__ alignas(128) unsigned ring[3][32 * 36];
__shared__ alignas(16) unsigned head[3][64];
__shared__ unsigned lengths[12];
typedef unsigned (*Role)(unsigned slot, unsigned length, unsigned acc);
__device__ __noinline__ unsigned by_rows(unsigned slot, unsigned length, unsigned acc) {
    const unsigned lane = threadIdx.x & 31;
    for (unsigned i = lane; i < length; i += 32) {
        const uint4 v = *(const uint4*)(ring[slot] + i * 36 + (acc & 7) * 4);
        acc += v.x ^ v.z;
        if (v.y % 5 == 0) acc += ring[slot][(v.y & 31) * 36 + (i & 3)];
    }
    return acc + lane;
}
__device__ __noinline__ unsigned by_columns(unsigned slot, unsigned length, unsigned acc) {
    const unsigned lane = threadIdx.x & 31;
    for (unsigned i = 0; i < length; i++) {
        const unsigned v = ring[slot][i * 36 + (lane ^ i & 3)];
        if (v % 9 == lane % 9) break;
        acc = acc * 3 + v;
        if (v & 8) acc ^= head[slot][v & 63];
    }
    return acc;
}
__device__ __noinline__ unsigned by_head(unsigned slot, unsigned length, unsigned acc) {
    const uint2 v = *(const uint2*)(head[slot] + (length * (threadIdx.x & 31) * 2 & 62));
    return (acc ^ v.x) + (v.y & 7 ? by_rows(slot, length / 2, v.y) : 5);
}
__constant__ Role roles[4] = {by_rows, by_columns, by_head, by_columns};

extern "C" __global__ void k9986(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned long long full[3], empty[3];
    __shared__ unsigned board[160];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, consumers = blockDim.x / 32 - 1;
    if (t < 3) { init(sa(full + t), 33); init(sa(empty + t), consumers); }
    if (t < 12) lengths[t] = 1 + src[(t * 131 + n * 77 + blockIdx.x) & 4095] % 32;
    for (unsigned i = t; i < 3 * 32 * 36; i += blockDim.x) ((unsigned*)ring)[i] = i & 63;
    for (unsigned i = t; i < 192; i += blockDim.x) ((unsigned*)head)[i] = i;
    for (unsigned i = t; i < 160; i += blockDim.x) board[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;\nfence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    const unsigned tiles = 5 + n % 7;
    if (warp == consumers) {
        for (unsigned k = 0; k < tiles; k++) {
            const unsigned slot = k % 3, bar = sa(full + slot), length = lengths[k];
            wait(sa(empty + slot), (k / 3 & 1) ^ 1);
            for (unsigned i = lane; i < length * 8; i += 32)
                copy16(sa(ring[slot]) + (i >> 3) * 144 + (i & 7) * 16, src + ((k * 300 + i * 4 + n * 16) & 4092), (i >> 3) + 1 == length ? 16 - (i & 3) * 4 : 16);
            copies_arrive(bar);
            if (lane == 0) { const unsigned bytes = 16 * (1 + length % 16); expect(bar, bytes); bulk(sa(head[slot]), src + k * 64, bytes, bar); }
            __syncwarp();
        }
        return;
    }
    const unsigned kind = (warp + n) & 3;
    const unsigned leaves = consumers > 2 && warp == 0 ? 3 : ~0u;
    unsigned acc = t, together = consumers * 32;
    for (unsigned k = 0; k < tiles; k++) {
        const unsigned slot = k % 3;
        wait(sa(full + slot), k / 3 & 1);
        if (k < leaves) {
            const Role role = roles[(kind + (lane >= 20 && k % 3 == 1)) & 3];
            acc = role(slot, lengths[k], acc);
        }
        __syncwarp();
        board[t] = acc;
        __syncwarp();
        acc += board[warp * 32 + (acc & 31)];
        __syncwarp();
        if (lane == 0) arrive(sa(empty + slot));
        if (k == leaves) { meet(2, 64); together -= 32; }
        if (k > leaves) continue;
        if (leaves == ~0u && k == 3 && consumers > 2) { if (warp == 1) meet(2, 64); together -= 32; }
        if ((k & 1) && k != leaves) { meet(1, together); acc ^= board[consumers * 32 - together + (t * 2) % together] & 1; meet(1, together); }
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
