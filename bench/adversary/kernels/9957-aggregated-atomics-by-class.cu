// launch 2 128 n=4
// launch 1 75 n=13
// launch 3 40 n=23
// launch 1 250 n=6
// Warp-aggregated atomics: the leader of the active lanes of a branch, then one leader per matched class, claim slots for all.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9957(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned claims[8][512];
    __shared__ unsigned queue[8][512];
    __shared__ unsigned long long sums[8][64];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned *c = claims[t / 32], *q = queue[t / 32];
    unsigned long long* s = sums[t / 32];
        for (unsigned k = lane; k < 512; k += count) { c[k] = 0; q[k] = k ^ 85; }
    for (unsigned k = lane; k < 64; k += count) s[k] = k;
    __syncwarp(live);
    const unsigned gap = 1u << (n % 6), pitch = (n & 8) ? 5 : 4;
    unsigned acc = 0;
    for (unsigned r = 0; r < 3; r++) {
        const unsigned v = src[(blockIdx.x * 611 + t * 5 + r * (n * 40 + 9)) & 4095];
        __syncwarp(live);
        // One counter a turn: the branch's active lanes claim together.
        if (v % 7 < 4) {
            const unsigned m = __activemask();
            const int leader = __ffs(m) - 1;
            unsigned base = 0;
            if (lane == leader) base = atomicAdd(&c[0], __popc(m));
            base = __shfl_sync(m, base, leader);
            const unsigned slot = base + __popc(m & lt);
            q[(slot * pitch) & 511] = v;
            atomicAdd(&s[(slot * 2) & 63], (unsigned long long)v);
        }
        __syncwarp(live);
        // A counter per class (8 classes, gap words apart): many leaders in one instruction.
        const unsigned kind = v & 7;
        const unsigned peers = __match_any_sync(live, kind);
        const int first = __ffs(peers) - 1;
        unsigned base = 0;
        if (lane == first) base = atomicAdd(&c[1 + kind * gap], __popc(peers));
        base = __shfl_sync(peers, base, first);
        acc += q[((base + __popc(peers & lt)) * 8 + kind) & 511];
        // The last of a class adds what its class adds up to.
        const unsigned total = __reduce_add_sync(peers, v);
        if (31 - __clz(peers) == lane) atomicMax(&c[256 + ((total * gap) & 255)], total);
        __syncwarp(live);
        acc += c[(lane * gap) & 511] + (unsigned)s[(base + lane * 16) & 63];
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
