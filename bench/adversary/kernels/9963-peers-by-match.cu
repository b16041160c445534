// launch 2 96 n=2
// launch 1 63 n=9
// launch 4 36 n=20
// launch 1 160 n=31
// match.any peers: rank and size among peers, sums, shfl and chains by peer masks; 16-byte rows per group; match.all; peers of peers.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9963(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ uint4 rows[5][160];
    __shared__ unsigned words[5][1024];
    const unsigned t = threadIdx.x, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    uint4* q = rows[t / 32];
    unsigned* w = words[t / 32];
    for (unsigned k = lane; k < 160; k += count) q[k] = make_uint4(k, k * 2, k * n, ~k);
    for (unsigned k = lane; k < 1024; k += count) w[k] = (k * 19) ^ n;
    __syncwarp(live);
    unsigned acc = 0;
    for (unsigned r = 0; r < 3; r++) {
        const unsigned v = src[(blockIdx.x * 57 + t * (1 + r * 4) + n * (r + 8)) & 4095];
        const unsigned key = (v + n) % (r == 0 ? 3 : r == 1 ? 5 : 11);
        __syncwarp(live);
        const unsigned peers = __match_any_sync(live, key);
        const unsigned rank = __popc(peers & lt), size = __popc(peers), first = __ffs(peers) - 1;
        acc += w[(rank * 32 + key) & 1023];
        acc += w[(size * lane) & 1023];
        acc += w[(first * 33 + rank) & 1023];
        // How many groups come before mine: leaders below my leader.
        const unsigned leaders = __ballot_sync(live, rank == 0);
        const unsigned group = __popc(leaders & ((1u << first) - 1));
        if (rank == 0) q[group * (1 + (n & 3))] = make_uint4(key, size, v, r);
        __syncwarp(live);
        const uint4 z = q[group * (1 + (n & 3))];
        acc += z.x + z.z + q[(rank * 4 + group) & 127].w;
        __syncwarp(live);
        // Among peers: the largest, the sum, the next one in a ring.
        const unsigned top = __reduce_max_sync(peers, v), sum = __reduce_add_sync(peers, v & 15);
        const unsigned above = peers & ~lt & ~(1u << lane);
        const unsigned next = __shfl_sync(peers, v, above ? __ffs(above) - 1 : first);
        acc += w[(top + rank) & 1023] + w[(sum * 4 + lane * 2) & 1023] + w[(next * 16 + lane) & 1023];
        __syncwarp(live);
        // Chains: each group walks its own members, groups of other lengths being done before.
        for (unsigned left = peers; left; left &= left - 1) {
            const unsigned x = __shfl_sync(peers, v, __ffs(left) - 1);
            acc += w[(x * rank + key * 8) & 1023];
        }
        __syncwarp(live);
        // Peers in 64-bit keys by the active lanes of a branch, and peers of these peers.
        if (v % 4 != 1) {
            const unsigned m = __activemask();
            const unsigned long long wide = (unsigned long long)(v & 3) << 40 | (v % 4 == 2);
            const unsigned p = __match_any_sync(m, wide);
            const unsigned pp = __match_any_sync(p, __popc(p & lt) >> 1);
            acc += q[(__popc(p & lt) * 3 + __popc(pp & lt) * 32 + (v & 3) * 8) & 127].y;
            acc ^= w[(__popc(pp) * 64 + __popc(p) * __popc(m & lt)) & 1023];
        }
        __syncwarp(live);
        int same;
        const unsigned all = __match_all_sync(live, top > 900 ? 1u : key, &same);
        acc += w[(lane * (same ? 1 : 8) + __popc(all)) & 1023];
        __syncwarp(live);
        w[(lane * 32 + group) & 1023] = acc & 511;
        __syncwarp(live);
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
