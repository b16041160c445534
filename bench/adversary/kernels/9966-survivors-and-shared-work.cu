// launch 2 128 n=9
// launch 1 83 n=4
// launch 3 50 n=19
// launch 1 32 n=14
// Work handed out to idle lanes by ballots, a function called from divergent branches that asks who is active, and lanes that return by data while the survivors go on by ranks among themselves.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
__device__ __noinline__ unsigned ask(const unsigned* w, unsigned v, unsigned stride) {
    const unsigned m = __activemask();
    const unsigned rank = __popc(m & lanes_below());
    const unsigned lead = __shfl_sync(m, v, __ffs(m) - 1);
    unsigned r = w[(rank * stride + (lead & 31)) & 1023];
    if (v & 16) r += w[(__popc(__activemask() & lanes_below()) * 8 + lead) & 1023];
    return r;
}
extern "C" __global__ void k9966(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[4][1024];
    __shared__ uint2 items[4][128];
    __shared__ unsigned done[4][64];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned *w = words[t / 32], *d = done[t / 32];
    uint2* q = items[t / 32];
    for (unsigned k = lane; k < 1024; k += count) w[k] = (k * 13) ^ n;
    for (unsigned k = lane; k < 128; k += count) q[k] = make_uint2(0, k);
    for (unsigned k = lane; k < 64; k += count) d[k] = 0;
    __syncwarp(live);
    const unsigned v = src[(blockIdx.x * 91 + t * 17 + n) & 4095];
    unsigned acc = 0;
    __syncwarp(live);
    // Each lane brings up to 5 items; those without take over items of the lane that has most.
    unsigned have = v % 6, next = v & 255, rounds = 0;
    while (true) {
        const unsigned busy = __ballot_sync(live, have != 0);
        if (!busy || rounds == 24) break;
        const unsigned idle = live & ~busy;
        const unsigned most = __reduce_max_sync(live, have * 32 + lane), giver = most & 31;
        const unsigned gifts = min((most >> 5) - 1, (unsigned)__popc(idle));
        if (lane == giver) {
            for (unsigned k = 0; k < gifts; k++) q[k * (1 + (n & 3))] = make_uint2(next + k * 3, lane);
            next += gifts * 3;
            have -= gifts;
        }
        __syncwarp(live);
        if (have == 0 && (idle >> lane & 1)) {
            const unsigned rank = __popc(idle & lt);
            if (rank < gifts) { const uint2 z = q[rank * (1 + (n & 3))]; next = z.x + z.y; have = 1; }
        }
        __syncwarp(live);
        if (have) {
            const unsigned m = __activemask();
            acc += w[(next + __popc(m & lt) * (1u << (rounds & 5))) & 1023];
            atomicAdd(&d[next & 63], 1u);
            next += 3;
            have--;
        }
        rounds++;
        __syncwarp(live);
    }
    acc += d[(lane * 2 + rounds) & 63];
    // The same function from four places, by data.
    switch (v & 3) {
    case 0: acc += ask(w, v, 1); break;
    case 1: acc += ask(w, v ^ 16, 32); break;
    case 2: if (v & 8) acc += ask(w, v >> 1, 33); break;
    default: acc += ask(w, v, 4) + ask(w, rounds, 16);
    }
    __syncwarp(live);
    // Some leave for good; the others rank themselves, store by rank and read what their mirror wrote.
    unsigned here = __ballot_sync(live, v % 5 != 2);
    if (v % 5 == 2) { out[blockIdx.x * blockDim.x + t] = acc; return; }
    w[__popc(here & lt) * 32] = v;
    __syncwarp(here);
    acc += w[(__popc(here) - 1 - __popc(here & lt)) * 32];
    const unsigned second = __ballot_sync(here, v % 7 > 2);
    if (v % 7 <= 2) { out[blockIdx.x * blockDim.x + t] = acc ^ 1; return; }
    here = __activemask();
    q[__popc(here & lt) * 2] = make_uint2(acc, __popc(second));
    __syncwarp(here);
    const unsigned first = __ffs(here) - 1;
    const unsigned row = __shfl_sync(here, v, first) & 63;
    acc += q[(row + __popc(here & lt) * 4) & 127].y + w[(row * 16 + lane * __popc(second)) & 1023];
    out[blockIdx.x * blockDim.x + t] = acc;
}
