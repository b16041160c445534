// launch 1 96 n=2
// launch 2 61 n=9
// launch 3 33 n=22
// launch 1 128 n=15
// Cooperative groups: coalesced_threads() in data-dependent branches (rank, size, shfl, ballot), binary and labeled partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9958(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned words[4][1024];
    __shared__ unsigned fixed[4][256];
    __shared__ alignas(16) uint4 quads[4][128];
    const unsigned t = threadIdx.x, lane = lane_id(), live = lanes_live(), count = __popc(live);
    unsigned* w = words[t / 32];
    uint4* q = quads[t / 32];
    const unsigned st = stride_of(n), pitch = 1 + (n >> 3 & 3);
    for (unsigned k = lane; k < 1024; k += count) w[k] = k + n;
    for (unsigned k = lane; k < 256; k += count) fixed[t / 32][k] = k * 3;
    for (unsigned k = lane; k < 128; k += count) q[k] = make_uint4(k, n, k * 3, k ^ 9);
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < 2 + (n & 1); r++) {
        const unsigned v = src[(blockIdx.x * 1234 + t * 3 + r * 777 + (t & 5) * n) & 4095];
        __syncwarp(live);
        if (v & 1) {
            cg::coalesced_group g = cg::coalesced_threads();
            w[g.thread_rank() * st] = v;
            g.sync();
            acc += w[(g.size() - 1 - g.thread_rank()) * st];
            const unsigned head = g.shfl(v, 0), tail = g.shfl(v, g.size() - 1);
            acc += w[((head & 31) + g.thread_rank() * (tail & 15)) & 1023];
            if (v & 2) {
                cg::coalesced_group h = cg::coalesced_threads();
                q[h.thread_rank() * pitch] = make_uint4(v, h.size(), head, tail);
                h.sync();
                acc += q[(h.shfl_down(v, 1) + h.thread_rank() * 2) & 127].z & 0xff;
            } else if (g.thread_rank() == g.size() - 1) {
                acc += w[(tail * 32) & 1023];
            }
        } else {
            cg::coalesced_group g = cg::coalesced_threads();
            const unsigned b = g.ballot(v & 4);
            acc += fixed[t / 32][(__popc(b) * g.thread_rank()) & 255];
            if (g.any(v > 600)) acc++;
        }
        __syncwarp(live);
        if (v % 5 != 3) {
            cg::coalesced_group g = cg::coalesced_threads();
            cg::coalesced_group half = cg::binary_partition(g, (v >> 3) & 1);
            const unsigned place = half.thread_rank() * 2 + ((v >> 3) & 1);     // less than 64
            w[place * 16] = half.size();
            cg::coalesced_group part = cg::labeled_partition(g, v & 3);
            const unsigned sum = cg::reduce(part, v & 31, cg::plus<unsigned>());
            acc += q[(part.thread_rank() * 4 + sum) & 127].x;
            acc += q[(part.size() * part.meta_group_rank()) & 127].w;
        }
        __syncwarp(live);
        acc += w[lane * st];
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
