// launch 1 64 n=0
// launch 3 96 n=700
// launch 2 50 n=3
// Votes, reductions, match, elect and broadcasts run by two groups of lanes that src decides: each result is uniform in its group only, the join is not, and guards on it split the warp. A waterfall loop ends.
__device__ __forceinline__ unsigned elected(unsigned mask) {
    unsigned r;
    asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(mask));
    return r;
}

extern "C" __global__ void k10001(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1056], own[96];
    const unsigned t = threadIdx.x, lane = t & 31, base = t & ~31u;
    const unsigned here = blockDim.x - base >= 32 ? ~0u : (1u << (blockDim.x - base)) - 1;
    const unsigned v = src[(t * 5 + n + blockIdx.x * 64) & 4095];
    unsigned acc = 0, x, y, won;
    for (unsigned i = t; i < 1056; i += blockDim.x) s[i] = i * 3;
    own[t % 96] = v;
    __syncthreads();
    const bool odd = v & 4;
    const unsigned yes = __ballot_sync(here, odd), mine = odd ? yes : here & ~yes;
    if (odd) {
        x = __reduce_add_sync(mine, v & 3);
        acc += s[(x & 31) * 32];
        y = __shfl_sync(mine, v >> 3, __ffs(mine) - 1);
        acc += s[(y & 31) * 32 + (lane & 1)];
        won = elected(mine);
    } else {
        x = __reduce_max_sync(mine, v & 63) + 1;
        acc ^= s[(x & 31) * 32 + lane];
        y = __shfl_sync(mine, v >> 2, 31 - __clz(mine));
        acc ^= s[(y & 31) * 33];
        won = elected(mine) << 1;
    }
    acc += s[(x & 31) * 32];
    acc += s[((x ^ y) & 31) * 32 + (y & 1)];
    if (x > 20) acc += s[lane * 32];
    if (x == y) acc += s[lane * 32 + 1];
    if (won) acc += s[(lane * won * 32) & 1023] + 1;
    const unsigned winners = __ballot_sync(here, won != 0);
    acc += s[__popc(winners) * 32 + (lane & 15) * 2];
    for (unsigned i = 0; i < __popc(winners); i++) acc += s[(lane << i) * 8 & 1023];

    const unsigned peers = __match_any_sync(here, v & 7), lead = __ffs(peers) - 1;
    const unsigned z = __shfl_sync(here, v >> 1, lead);
    acc += s[(z & 31) * 32];
    acc += s[__popc(peers & ((1u << lane) - 1)) * 32];
    int all;
    const unsigned ma = __match_all_sync(here, v >> 9, &all);
    acc += s[(__popc(ma) & 31) * 32 + (all ? 0 : lane)];
    if (!all) acc += s[lane * 16];
    const unsigned one = __reduce_or_sync(here, v) ^ __reduce_and_sync(here, v), up = __shfl_up_sync(here, x, 1), next = __shfl_xor_sync(here, v, 1) & 31;
    acc += s[(one & 31) * 32 + (up & 7)];
    acc += s[(lane ? up & 31 : 32) * 32];
    if (here == ~0u) acc += s[next * 32];

    unsigned left = here;
    for (;;) {
        const unsigned k = __shfl_sync(left, v & 7, __ffs(left) - 1);
        const bool hit = (v & 7) == k;
        const unsigned now = __ballot_sync(left, hit);
        if (hit) {
            acc += s[__popc(now & ((1u << lane) - 1)) * 32 + k];
            break;
        }
        acc ^= s[(k * 32 + lane) & 1023];
        left &= ~now;
    }
    __syncwarp(here);
    acc += s[__popc(left) * 32];
    own[t % 96] = acc;
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + own[t % 96];
}
