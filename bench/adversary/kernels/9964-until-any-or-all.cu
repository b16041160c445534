// launch 2 64 n=5
// launch 1 91 n=10
// launch 3 30 n=23
// launch 1 128 n=32
// Loops that end by any, all or uni votes over data; lanes that are done idle under predicates; addresses by counts of who is left.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
__device__ __forceinline__ bool uniform_vote(unsigned mask, bool c) {
    unsigned r;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, %2; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"((unsigned)c), "r"(mask));
    return r;
}
extern "C" __global__ void k9964(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[4][1024];
    __shared__ unsigned long long longs[4][256];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    unsigned long long* l = longs[t / 32];
    const unsigned st = stride_of(n);
    for (unsigned k = lane; k < 1024; k += count) w[k] = k % 77;
    for (unsigned k = lane; k < 256; k += count) l[k] = k * n;
    __syncwarp(live);
    unsigned acc = 0;
    const unsigned v = src[(blockIdx.x * 815 + t * 6 + n * 13) & 4095];
    __syncwarp(live);
    // Until nobody has bits left: those with an odd value move their slot's word on; the others keep still.
    unsigned x = v;
    while (__any_sync(live, x)) {
        const unsigned odd = __ballot_sync(live, x & 1);
        if (x & 1) {
            const unsigned slot = __popc(odd & lt) * st;
            w[slot] = w[slot] * 3 + x;
        }
        const unsigned step = 1 + (__popc(odd) & 1);
        if (x) acc += l[(lane * step * 2) & 255];
        x >>= step;
        __syncwarp(live);
    }
    acc += w[lane * st];
    __syncwarp(live);
    // Until all agree (or 9 turns): everyone takes the larger of its own and of a neighbour that the votes choose.
    unsigned y = v & 127, turns = 0;
    while (!__all_sync(live, y == __shfl_sync(live, y, 0)) && turns < 9) {
        const unsigned big = __ballot_sync(live, y > 64);
        const unsigned z = __shfl_sync(live, y, (lane + __popc(big) + 1) % count);
        acc += w[(y * 8 + lane) & 1023] + w[(__popc(big) * lane) & 1023];
        y = max(y, z);
        turns++;
    }
    acc += w[(y + turns * 32 + lane * 4) & 1023];
    // Until a vote is not uniform (or no more bits): the bit's count is the stride.
    unsigned bit = 10;
    while (bit && uniform_vote(live, (v & 0x380) >> bit & 1)) bit--;
    acc += w[(lane << (bit & 7)) & 1023];
    acc += (unsigned)l[(lane * bit) & 255];
    // Lanes leave the loop one class after another; those who stay vote among themselves.
    unsigned stay = live, c = v % 6;
    for (unsigned k = 0; k < 6; k++) {
        stay = __ballot_sync(stay, c > k);
        if (c <= k) break;
        const unsigned some = __ballot_sync(stay, (v >> k) & 1);
        acc += w[(__popc(stay & lt) * (1u << k)) & 1023];
        if (some == 0) continue;
        acc += (unsigned)l[(__popc(some & lt) * 16 + k) & 255];
        if (some >> lane & 1) acc += w[(__popc(some) * __popc(some & lt) + c) & 1023];
    }
    __syncwarp(live);
    const unsigned five = __ballot_sync(live, v & 32);
    const unsigned place = v & 32 ? __popc(five & lt) : __popc(five) + __popc(live & ~five & lt);
    atomicAdd(&l[place * 8], (unsigned long long)acc);
    atomicXor(&w[(y * lane + turns) & 1023], acc);
    __syncwarp(live);
    out[blockIdx.x * blockDim.x + t] = acc + (unsigned)l[lane * 8] + w[(lane * 31) & 1023];
}
