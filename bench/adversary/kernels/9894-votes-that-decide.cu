// launch 2 64 n=6
// launch 1 150 n=33
// launch 2x2x2 8x4x3 n=200
// launch 1 13 n=2
// Branches, trip counts and addresses that come from votes, matches, shuffles, reductions over lanes and elected leaders;
// subsets of lanes vote among themselves while the others wait or have left the loop.
__device__ __forceinline__ bool is_elected(unsigned mask)
{
    unsigned elected;
    asm volatile("{\n .reg .pred p;\n elect.sync _|p, %1;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(elected) : "r"(mask) : "memory");
    return elected;
}

extern "C" __global__ void k9894(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned keys[512], data[1024], loose[128], tally[16 * 33], board[16][32];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, w = t >> 5, block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned here = T - w * 32 < 32 ? (1u << (T - w * 32)) - 1 : ~0u, lanes = __popc(here);
    for (unsigned i = t; i < 512; i += T) keys[i] = i * 5 + (i >> 3) * n;
    for (unsigned i = t; i < 1024; i += T) data[i] = i * 3 ^ (i >> 5);
    for (unsigned i = t; i < 128; i += T) loose[i] = src[i + block];
    for (unsigned i = t; i < 16 * 33; i += T) tally[i] = i;
    for (unsigned i = t; i < 512; i += T) board[i >> 5][i & 31] = i;
    __syncthreads();

    // until nobody is busy
    unsigned acc = block, noise = 0, left = (lane * 3 + w) % 7, at = lane;
    while (__any_sync(here, left > 0)) {
        if (left) {
            acc += data[(at * left) & 1023];
            at += 9;
            left -= left > 4 && (acc & 1) ? 2 : 1;
        } else if (lane & 1) acc ^= data[(acc + lane) & 1023];
    }

    // one trip for each value among the lanes
    const unsigned key = keys[t & 511] % 5;
    unsigned todo = here;
    while (todo) {
        const unsigned first = __ffs(todo) - 1, current = __shfl_sync(here, key, first);
        const unsigned same = __ballot_sync(here, key == current);
        if (key == current) acc += data[(current * 100 + lane * __popc(same)) & 1023];
        if (lane == first) tally[w * 33 + current] = same;
        todo &= ~same;
    }
    __syncwarp(here);
    acc += data[tally[w * 33 + lane % 5] & 1023];

    // peers, their last lane as leader, and what only large groups do
    const unsigned group = (keys[(t * 3) & 511] >> 2) & 7, peers = __match_any_sync(here, group);
    const unsigned leader = 31 - __clz(peers);
    if (lane == leader) board[w][lane] = __popc(peers) + group;
    __syncwarp(here);
    acc += data[(board[w][leader] * lane) & 1023];
    if (__popc(peers) > 3) {
        const unsigned sum = __reduce_add_sync(peers, lane);
        for (unsigned i = 0; i < (sum & 3) + 1; ++i) acc += data[(i * 32 + sum * lane) & 1023];
    }
    __syncwarp(here);

    // a neighbour's value decides
    unsigned best = data[(lane * 17 + w) & 1023];
    for (unsigned d = 16; d; d >>= 1) {
        const unsigned other = __shfl_sync(here, best, (lane + d) % lanes);
        if (other > best) { acc += data[(other + d * lane) & 1023]; best = other; }
        else if (other == best) continue;
        board[w][lane] = other;
    }
    __syncwarp(here);

    // lanes leave, the others go on voting among themselves
    const unsigned trips = __reduce_max_sync(here, keys[(t * 7) & 511] & 7), own = (lane * 5 + n) % 9;
    unsigned active = here;
    for (unsigned i = 0; i <= trips; ++i) {
        active = __ballot_sync(active, i < own);
        if (i >= own) break;
        acc += board[w][__ffs(active) - 1] + data[(i * 64 + lane * __popc(active)) & 1023];
    }
    __syncwarp(here);

    // leaders elected among even and among odd lanes; the rest of the group follows what they have written
    const unsigned odds = here & 0xaaaaaaaau, evens = here & 0x55555555u;
    bool elected = false;
    if (lane & 1) elected = is_elected(odds);
    __syncwarp(here);
    if (w == 0 && (lane & 1) == 0) elected = is_elected(evens);
    __syncwarp(here);
    if (elected) tally[w * 33 + 8 + (lane & 1)] = data[((lane & 1 ? odds : evens) + w) & 1023];
    __syncwarp(here);
    switch (tally[w * 33 + 9] & 3) {
    case 0: acc += data[(lane * 32 + w) & 1023]; [[fallthrough]];
    case 1: acc += tally[w * 33 + 8 + (lane & 1)]; break;
    case 2: if (__all_sync(here, board[w][lane] > 40)) ++acc; [[fallthrough]];
    default: acc += data[(lane * 8) & 1023];
    }

    // votes about words from outside
    int together;
    __match_all_sync(here, loose[(w * 4 + (lane >> 4)) & 127] & 1, &together);
    if (together) noise += data[(lane * 4) & 1023];
    unsigned odd = __ballot_sync(here, loose[(t * 5) & 127] & 1), rounds = 0;
    while (odd && ++rounds < 20) {
        if (odd >> lane & 1) noise += data[(lane * 16 + rounds) & 1023];
        odd &= odd - 1;
    }
    if (__syncthreads_and(acc & 1 || lane < 9)) acc += keys[(lane * 16) & 511];
    out[block * T + t] = acc + noise + (unsigned)(f > 0);
}
