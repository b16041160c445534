// launch 2 64 n=6
// launch 1 125 n=11
// launch 3 41 n=16
// launch 1 96 n=29
// Nested data-dependent branches where each mask is a ballot by the mask before; then all converge and store by popc of all masks.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9962(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ uint2 pairs[4][1024];
    __shared__ unsigned words[4][512];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    uint2* q = pairs[t / 32];
    unsigned* w = words[t / 32];
    const unsigned st = stride_of(n);
    for (unsigned k = lane; k < 1024; k += count) q[k] = make_uint2(k, k ^ n);
    for (unsigned k = lane; k < 512; k += count) w[k] = k * 9;
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < 3; r++) {
        const unsigned v = src[(blockIdx.x * 211 + t * (5 + r) + r * 99 + n) & 4095];
        unsigned path = 0, mine = live, order = 0;
        // A path of up to four decisions; each mask comes from a ballot among those that took the same path so far.
        __syncwarp(live);
        const unsigned a = __ballot_sync(live, v & 1);
        if (v & 1) {
            mine = a;
            const unsigned b = __ballot_sync(a, v & 2);
            if (v & 2) {
                mine = b;
                const unsigned c = __ballot_sync(b, v % 3 == 0);
                if (v % 3 == 0) { mine = c; path = 1; order = __shfl_sync(c, v, __ffs(c) - 1); }
                else { mine = b & ~c; path = 2; order = __reduce_max_sync(b & ~c, v); }
                __syncwarp(b);
                acc += w[(__popc(b & lt) * (path == 1 ? 2 : 8)) & 511];
            } else {
                mine = a & ~b;
                path = 3;
                if (__any_sync(mine, v > 700)) { acc += w[(__popc(mine & lt) * 16) & 511]; order = 5; }
            }
            __syncwarp(a);
            acc += w[(__popc(a & lt) + order) & 511];
        } else {
            mine = live & ~a;
            path = 4 + (v >> 1 & 1);
            if (__all_sync(mine, v < 1000)) order = __popc(__ballot_sync(mine, v & 8));
            // Those left halve again and again until nobody is left.
            unsigned rest = mine, x = v;
            while (true) {
                const unsigned go = __ballot_sync(rest, x > 40);
                if (x <= 40) { acc += w[(__popc((rest & ~go) & lt) * 4 + __popc(go)) & 511]; break; }
                x >>= 1 + (x & 1);
                rest = go;
                acc += w[(__popc(go & lt) * 33) & 511];
            }
        }
        __syncwarp(live);
        // Converged: a slot for each lane, grouped by path.
        unsigned slot = 0;
        for (unsigned p = 1; p <= 5; p++) {
            const unsigned m = __ballot_sync(live, path == p);
            if (p < path) slot += __popc(m);
            if (p == path) slot += __popc(m & lt);
        }
        q[slot * st] = make_uint2(v, __popc(mine));
        w[slot * 8 + (path & 7)] = order;
        __syncwarp(live);
        const uint2 z = q[lane * st];
        acc += z.x + w[(z.y * lane) & 511] + q[(__popc(mine & lt) * 2 + order) & 1023].y;
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
