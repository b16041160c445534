// launch 2 96 n=5
// launch 1 57 n=18
// launch 3 128 n=14
// launch 1 77 n=27
// Slots by rank among the active lanes (__activemask) of branches nested three deep by data; the leaves fill disjoint slots.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9955(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[4][1024];
    __shared__ uint2 pairs[4][128];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    uint2* q = pairs[t / 32];
    const unsigned st = stride_of(n), pitch = 1u << ((n >> 3) % 3);
    for (unsigned k = lane; k < 1024; k += count) w[k] = k * 5;
    for (unsigned k = lane; k < 128; k += count) q[k] = make_uint2(k, n);
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < (n & 3) + 1; r++) {
        const unsigned v = src[(blockIdx.x * 977 + t * 13 + r * n * 31) & 4095];
        __syncwarp(live);
        const unsigned odd = __popc(__ballot_sync(live, v & 1));
        if (v & 1) {
            const unsigned m = __activemask();
            const unsigned second = __ballot_sync(m, v & 2);
            if (v & 2) {
                const unsigned m2 = __activemask();
                w[__popc(m2 & lt) * st] = v + __popc(m2);
                if ((v & 12) != 4) {
                    const unsigned m3 = __activemask();
                    q[__popc(m3 & lt) * pitch] = make_uint2(m3, v);
                }
            } else {
                const unsigned m2 = __activemask();
                w[(__popc(second) + __popc(m2 & lt)) * st] = m2;
            }
        } else {
            unsigned m = __activemask();
            const unsigned base = odd + __popc(m & lt);
            if (v % 3 == 1) {
                m = __activemask();
                w[base * st] = m ^ v;
            } else if (v % 3 == 2) {
                m = __activemask();
                w[base * st] = __popc(m) * 8;
                acc += m;
            } else {
                w[base * st] = __reduce_add_sync(__activemask(), v);
            }
        }
        __syncwarp(live);
        acc += w[lane * st];
        const uint2 p = q[(lane * pitch + __popc(w[lane * st])) & 127];
        acc = acc * 3 + p.x + p.y;
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
