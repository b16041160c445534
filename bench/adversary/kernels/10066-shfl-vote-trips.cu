// launch 2 96 n=11
// launch 1 48 n=30
// launch 2 72 n=4
// trip counts shuffled from one lane, __reduce_max_sync and popc of ballots; leaders of __match_any_sync groups; a loop over the set bits of a ballot; the last warp is partial
extern "C" __global__ void k10066(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned long long cell[64];
    __shared__ unsigned q[4][64];
    __shared__ float g[512];
    const unsigned t = threadIdx.x, lane = t & 31, w = t >> 5;
    const unsigned all = __ballot_sync(0xffffffffu, t < blockDim.x);
    if (t < 64) cell[t] = t;
    if (blockDim.x < 64 && t < 64 - blockDim.x) cell[t + blockDim.x] = 7;
    for (unsigned i = lane; i < 64; i += __popc(all)) q[w][i] = (i * 13 + w) & 63;
    for (unsigned i = t; i < 512; i += blockDim.x) g[i] = i * f;
    __syncthreads();
    unsigned acc = 0;
    float fa = 0.0f;
    // the trip count of lane 5 for the whole warp, then of each lane's quad leader
    const unsigned own = src[(t * 3 + blockIdx.x) & 4095] % (n + 1);
    const unsigned warp_trips = __shfl_sync(all, own, 5);
    for (unsigned i = 0; i < warp_trips; ++i) fa += g[(lane * (i + 1)) & 511];
    const unsigned quad_trips = __shfl_sync(all, (t * 5) & 15, lane & ~3u);
    for (unsigned i = 0; i < quad_trips; ++i) acc += q[w][(lane + i * 2) & 63];
    // uniform branch from a vote
    if (__any_sync(all, (t & 63) == n * 3)) fa += g[(t * 16) & 511];
    else if (__all_sync(all, w < 2)) fa -= g[(t * 2 + 1) & 511];
    const unsigned most = __reduce_max_sync(all, (lane ^ 9) + w * 4);
    for (unsigned i = most & ~15u; i < most; i += 3) g[(lane * 4 + i) & 511] = fa;
    __syncwarp(all);
    // a value read from shared memory groups the lanes
    const unsigned key = q[w][(lane * 3) & 31] >> 3;
    const unsigned peers = __match_any_sync(all, key);
    if ((unsigned)(__ffs(peers) - 1) == lane) {
        cell[(key * 4 + w) & 63] += __popc(peers);
        for (int c = __popc(peers); c > 0; --c) acc += (unsigned)cell[(lane + c) & 63];
    }
    // the lanes whose bit is set take turns
    unsigned todo = __ballot_sync(all, (src[t & 4095] & 96) == 32 || lane == 2);
    while (todo) {
        const unsigned b = __ffs(todo) - 1;
        todo &= todo - 1;
        const unsigned row = __shfl_sync(all, t * 2, b);
        if (lane >= b) acc += q[w][(row + lane) & 63];
        if (lane == b) q[w][row & 63] = acc & 63;
        __syncwarp(all);
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + (unsigned)fa;
}
