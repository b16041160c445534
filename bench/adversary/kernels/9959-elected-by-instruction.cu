// launch 2 96 n=3
// launch 4 50 n=8 cluster=2
// launch 1 128 n=13
// launch 2 23 n=21 cluster=2
// elect.sync among the lanes of a ballot, of a branch and of a branch in a branch; the elected lane writes the row that all read.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
__device__ __forceinline__ bool elected(unsigned mask, unsigned& leader) {
    unsigned yes;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(yes) : "r"(mask) : "memory");
    return yes;
}
__device__ __forceinline__ bool elected(unsigned mask) {
    unsigned yes;
    asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "r"(mask) : "memory");
    return yes;
}
__device__ __forceinline__ unsigned cluster_rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
extern "C" __global__ void k9959(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ alignas(16) unsigned words[4][1056];
    __shared__ uint2 heads[4][64];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    uint2* h = heads[t / 32];
    const unsigned st = stride_of(n);
    for (unsigned k = lane; k < 1056; k += count) w[k] = k * 11;
    for (unsigned k = lane; k < 64; k += count) h[k] = make_uint2(k, k * n);
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < 3; r++) {
        const unsigned v = src[(blockIdx.x * 401 + cluster_rank() * 64 + t * (7 + 2 * r) + n * r) & 4095];
        __syncwarp(live);
        unsigned who;
        // The whole warp elects; the elected lane's value picks a row of 16-byte pieces.
        if (elected(live, who)) h[0] = make_uint2(v, lane);
        __syncwarp(live);
        const unsigned row = (h[0].x + who) & 7;
        const uint4 p = reinterpret_cast<uint4*>(w)[(row * 33 + lane * (1 + (row & 3))) % 264];
        acc += p.x + p.w + h[0].y;
        __syncwarp(live);
        // Both sides of a branch elect among their own.
        if (v & 2) {
            const unsigned m = __activemask();
            if (elected(m, who)) h[1] = make_uint2(__popc(m), v);
            __syncwarp(m);
            const unsigned x = h[1].x, y = h[1].y;
            acc += w[(__popc(m & lt) * x + y) & 1023];
            if (v & 8) {
                const unsigned m2 = __activemask();
                const bool me = elected(m2);
                h[16 + __popc(m2 & lt)] = make_uint2(me, who);
                if (!me) acc += w[__popc(m2 & lt) * st + y % 16];
            }
        } else {
            const unsigned m = __activemask();
            const bool me = elected(m, who);
            const unsigned theirs = __shfl_sync(m, v, who);
            acc += w[(theirs + lane * (me ? 1 : 8)) & 1023];
            if (me) h[2] = make_uint2(theirs, m);
            __syncwarp(m);
            acc += h[2].x;
        }
        __syncwarp(live);
        // A chain: each turn one of those still waiting is elected, writes its slot and leaves.
        unsigned waiting = __ballot_sync(live, v % 3 == 0), turn = 0;
        if (waiting >> lane & 1) {
            while (true) {
                const bool me = elected(waiting, who);
                if (me) w[turn * st] = v + turn;
                waiting &= ~(1u << who);
                turn++;
                if (me) break;
            }
        }
        __syncwarp(live);
        acc += w[lane * st] + h[(turn * 2 + lane) & 63].y;
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
