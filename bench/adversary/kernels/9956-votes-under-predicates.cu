// launch 1 64 n=3
// launch 2 45 n=6
// launch 4 96 n=12
// launch 1 19 n=5
// Short ifs that become predicates: @p activemask, @p vote.sync and @p redux over an initial value that the others keep.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
__device__ __forceinline__ unsigned active_if(bool c, unsigned otherwise) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p activemask.b32 %0; }" : "+r"(otherwise) : "r"((unsigned)c));
    return otherwise;
}
__device__ __forceinline__ unsigned ballot_if(bool c, bool vote, unsigned mask, unsigned otherwise) {
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; @p vote.sync.ballot.b32 %0, q, %3; }"
                 : "+r"(otherwise) : "r"((unsigned)c), "r"((unsigned)vote), "r"(mask));
    return otherwise;
}
__device__ __forceinline__ unsigned largest_if(bool c, unsigned x, unsigned mask, unsigned otherwise) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p redux.sync.max.u32 %0, %2, %3; }" : "+r"(otherwise) : "r"((unsigned)c), "r"(x), "r"(mask));
    return otherwise;
}
__device__ __forceinline__ unsigned any_all_if(bool c, bool vote, unsigned mask) {
    unsigned r = 4;
    asm volatile("{ .reg .pred p, q, a, b; setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; setp.ne.u32 a, 0, 0; setp.ne.u32 b, 0, 0;\n"
                 "@p vote.sync.any.pred a, q, %3; @p vote.sync.all.pred b, q, %3; @a or.b32 %0, %0, 1; @b or.b32 %0, %0, 2; }"
                 : "+r"(r) : "r"((unsigned)c), "r"((unsigned)vote), "r"(mask));
    return r;
}
extern "C" __global__ void k9956(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[3][1024];
    __shared__ uint4 quads[3][64];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    uint4* q = quads[t / 32];
    const unsigned st = stride_of(n);
    for (unsigned k = lane; k < 1024; k += count) w[k] = (k * 7) ^ n;
    for (unsigned k = lane; k < 64; k += count) q[k] = make_uint4(k, k + 1, k * n, 3);
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < 3; r++) {
        const unsigned v = src[(blockIdx.x * 333 + t * (9 + r * 2) + r * 517) & 4095];
        const bool c = (v >> r) & 1;
        __syncwarp(live);
        // Lanes outside keep 1 << lane: their rank is 0 and their count 1.
        const unsigned m = active_if(c, 1u << lane);
        acc += w[(__popc(m & lt) * st + r) & 1023];
        acc += w[(__popc(m) * lane) & 1023];
        const unsigned chosen = __ballot_sync(live, c);
        const unsigned b = ballot_if(c, v % 3 == 0, chosen, ~lane);
        acc += w[(__popc(b & lt) * 16 + (b & 1)) & 1023];
        const uint4 p = q[(__popc(b) * 2 + lane) & 63];
        acc += p.x ^ p.w;
        const unsigned top = largest_if(c, v, chosen, lane * 32);
        acc += w[(top + lane * (c ? 4 : 1)) & 1023];
        const unsigned flags = any_all_if(c, v & 2, chosen);
        acc += w[(lane << (flags & 3)) & 1023];
        __syncwarp(live);
        // Plain ifs, short enough to be predicates.
        unsigned k = lane;
        if (v & 4) k = 31 - __popc(__activemask() & lt);
        acc += w[k * st];
        unsigned z = 0;
        if (v % 5 < 3) z = __activemask();
        acc += q[(__popc(z & lt) * 4) & 63].y;
        __syncwarp(live);
        if (c) w[__popc(chosen & lt) * st] = acc & 255;
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
