// launch 1 96 n=5
// launch 2 128 n=18
// launch 1 83 n=9
// launch 1 1x40x3 n=22
// Segmented scans over runs as long as a popc or clz of loaded words says (lanes write, then read, lengths of their own), then lanes with a short run leave the kernel, and the rest shuffle by masks of who is left, in narrower and narrower ranks.
extern "C" __global__ void k9991(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(8) unsigned runs[128 * 11], ends[129], totals[4], heads[4];
    __shared__ alignas(8) uint2 carry[128];
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z, t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, warp = t >> 5, all = warp * 32 + 32 <= threads ? ~0u : (1u << (threads & 31)) - 1;
    const unsigned at_out = (blockIdx.x * threads + t) & 4095;
    const unsigned w = src[(t * 31 + n * 113 + blockIdx.x * 7) & 4095];
    const unsigned many = n & 1 ? (unsigned)__popc(w) : (unsigned)__clz(w << 22 | 1) % 9;
    for (unsigned i = t; i < 128 * 11; i += threads) runs[i] = i;
    for (unsigned i = t; i < 128; i += threads) carry[i] = make_uint2(i, i);
    if (t == 0) ends[0] = 0;
    unsigned scan = many;
    for (unsigned d = 1; d < 32; d <<= 1) { const unsigned v = __shfl_up_sync(all, scan, d); if (lane >= d) scan += v; }
    if (lane == 31 || t == threads - 1) totals[warp] = scan;
    __syncthreads();
    for (unsigned k = 0; k < warp; k++) scan += totals[k];
    ends[t + 1] = scan;
    for (unsigned k = 0, bits = w; k < many; k++) {
        const unsigned bit = __ffs(bits) - 1;
        runs[scan - many + k] = bits ? bit * 3 + k : w;
        bits &= bits - 1;
    }
    __syncthreads();
    unsigned acc = 0;
    const unsigned all_runs = ends[threads];
    for (unsigned i0 = warp * 32; i0 < all_runs; i0 += threads) {
        const unsigned i = i0 + lane;
        unsigned v = i < all_runs ? runs[i] : 0;
        const unsigned flags = __ballot_sync(all, v % 4 == 1 || lane == 0);
        const unsigned since = lane - (31 - __clz(flags & (2u << lane) - 1));
        for (unsigned d = 1; d < 32 && __any_sync(all, d <= since); d *= 2) {
            const unsigned o = __shfl_up_sync(all, v, d);
            if (d <= since) v += o;
        }
        if (lane == __popc(all) - 1u) carry[warp * 32 + (i0 / threads & 31)] = make_uint2(v, since);
        acc += v + runs[(v * 8 + since) % 1408];
    }
    if (lane == 0) heads[warp] = acc & 31;
    __syncthreads();
    acc += carry[t * 5 & 127].y + ends[(acc + lane * 4) % (threads + 1)];
    const bool leaves = many < 3 + (n & 1) && lane != 7;
    unsigned left = __ballot_sync(all, !leaves);
    if (leaves) {
        unsigned sum = acc;
        for (unsigned k = ends[t]; k < ends[t + 1] + 2; k++) sum += runs[k % 1408];
        out[at_out] = sum;
        return;
    }
    const unsigned rank = __popc(left & (1u << lane) - 1), crew = __popc(left);
    unsigned order = 0;
    for (unsigned k = 0, m = left; m; m &= m - 1, k++) if (k == (rank * 3 + 1) % crew) order = __ffs(m) - 1;
    acc += __shfl_sync(left, acc, order);
    acc += __popc(__match_any_sync(left, acc & 3));
    unsigned round = 0;
    while (true) {
        const unsigned x = runs[(rank * (round + 2) * 8 + (acc & 7)) % 1408];
        acc += x;
        const bool stays = (x + rank + round) % 3 != 0 && round < 6;
        const unsigned next = __ballot_sync(left, stays);
        if (!stays) break;
        left = next;
        const unsigned first = __ffs(left) - 1, low = __shfl_sync(left, acc, first);
        acc ^= ((const unsigned short*)runs)[(low + lane * (1 + round * 2)) % 2816];
        acc += __reduce_add_sync(left, lane & round);
        round++;
    }
    const unsigned own = ends[t], mine = ends[t + 1];
    switch ((mine - own) & 3) {
        case 3: acc += runs[(own + 2) % 1408];
        case 2: acc ^= runs[(own + acc) % 1408];
        case 1: acc += *(const unsigned long long*)(runs + ((own * 2 + lane) & 1022)) >> 9; break;
        default: for (unsigned k = mine; k > own; k -= 2) acc += runs[k % 1408 & ~round];
    }
    out[at_out] = acc + heads[(acc >> 2) % ((threads + 31) / 32)];
}
