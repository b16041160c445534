// launch 2 96 n=1
// launch 1 59 n=12
// launch 3 32 n=21
// launch 1 110 n=6
// Waterfall loops: one distinct value a turn until a ballot is empty, with the whole warp, with shrinking masks, and nested.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9961(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[4][1056];
    __shared__ uint2 pairs[4][256];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    uint2* q = pairs[t / 32];
    for (unsigned k = lane; k < 1056; k += count) w[k] = k ^ 21;
    for (unsigned k = lane; k < 256; k += count) q[k] = make_uint2(k * n, k);
    __syncwarp(live);
    unsigned acc = 0;
    const unsigned v = src[(blockIdx.x * 123 + t * 9 + n * 50) & 4095];
    const unsigned kind = v % 7, side = (v >> 3) % 3;
    __syncwarp(live);
    // The whole warp turns; those of the value act, at a stride that the value decides (1, 2, 4, 8, 16, 32, 33).
    unsigned todo = __ballot_sync(live, v % 11 != 0), turn = 0;
    while (todo) {
        const unsigned cur = __shfl_sync(live, kind, __ffs(todo) - 1);
        const unsigned same = __ballot_sync(live, kind == cur) & todo;
        if (same >> lane & 1) {
            const unsigned rank = __popc(same & lt), st = cur == 6 ? 33 : 1u << cur;
            w[rank * st] = v + turn;
            q[(rank * (cur + 1)) & 255].y = turn;
        }
        todo &= ~same;
        turn++;
        __syncwarp(live);
    }
    acc += w[lane * 32 + (turn & 15)];
    __syncwarp(live);
    // The first of the active lanes is followed by all that hold its value; they leave, the others turn again.
    unsigned round = 0;
    while (true) {
        const unsigned m = __activemask();
        const unsigned cur = __shfl_sync(m, side * 8 + kind, __ffs(m) - 1);
        round++;
        if (side * 8 + kind == cur) {
            const unsigned mine = __activemask();
            const unsigned rank = __popc(mine & lt);
            acc += w[(rank * (cur + 1) + round) & 1023];
            const uint2 p = q[(rank << (cur & 3)) & 255];
            acc += p.x * round;
            break;
        }
    }
    __syncwarp(live);
    // By outer value, then by inner value among those; each list goes on where the last ended.
    unsigned filled = 0;
    for (unsigned outer = live; outer;) {
        const unsigned a = __shfl_sync(live, side, __ffs(outer) - 1);
        unsigned inner = __ballot_sync(live, side == a);
        outer &= ~inner;
        while (inner) {
            const unsigned b = __shfl_sync(live, kind, __ffs(inner) - 1);
            const unsigned same = __ballot_sync(live, kind == b) & inner;
            inner ^= same;
            if (same >> lane & 1) q[(filled + __popc(same & lt)) * (4 << (a & 1))] = make_uint2(v, a * 7 + b);
            filled += __popc(same);
            // Everyone reads back from the list so far.
            __syncwarp(live);
            acc += q[((lane % filled) * 4) & 255].x + w[(b * 32 + lane * (a + 1)) & 1023];
            __syncwarp(live);
        }
    }
    // One lane a turn.
    for (unsigned left = __ballot_sync(live, v & 3); left; left &= left - 1) {
        const unsigned who = __ffs(left) - 1;
        if (lane == who) w[(v * 33) & 1023] = v;
        __syncwarp(live);
        acc += w[(__shfl_sync(live, v, who) * 33 + (lane & turn) * 2) & 1023];
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
