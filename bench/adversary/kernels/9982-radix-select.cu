// launch 1 160 n=7
// launch 2 100 n=20
// launch 1 64 n=33
// Radix select: match_any leaders add to private histograms of an odd pitch, a ballot finds the bucket, ballot ranks pack the survivors; passes end when the survivors do; then top lanes insert into a small sorted list.
extern "C" __global__ void k9982(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned vals[2][520], hist[5 * 131], offset[5], found[3], top[5][16];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = (blockDim.x + 31) / 32;
    const unsigned all = warp * 32 + 32 <= blockDim.x ? ~0u : (1u << (blockDim.x & 31)) - 1;
    const unsigned pitch = n % 3 == 0 ? 4 : n % 3 == 1 ? 3 : 2;
    unsigned count = 300 + n * 5, k = 1 + n * 13 % 250, side = 0, acc = 0;
    for (unsigned i = t; i < 520; i += blockDim.x) { vals[0][i] = src[(i * 7 + n + blockIdx.x * 100) & 4095] * 1009u & 0xfffff; vals[1][i] = 0; }
    for (unsigned i = t; i < 80; i += blockDim.x) ((unsigned*)top)[i] = 0;
    __syncthreads();
    for (int shift = 15; shift >= 0 && count > 1; shift -= 5) {
        for (unsigned i = t; i < 5 * 131; i += blockDim.x) hist[i] = 0;
        __syncthreads();
        unsigned* const mine = hist + warp * 131;
        for (unsigned base = warp * 32; base < count; base += blockDim.x) {
            const unsigned i = base + lane;
            const unsigned here = __ballot_sync(all, i < count);
            if (i < count) {
                const unsigned d = vals[side][i] >> shift & 31, peers = __match_any_sync(here, d);
                if (lane == __ffs(peers) - 1u) mine[d * pitch] += __popc(peers);
                else if ((peers & (peers - 1) & ~(1u << (31 - __clz(peers)))) >> lane & 1) acc += vals[side][(i + d) % count];
            }
            __syncwarp(all);
        }
        __syncthreads();
        if (warp == 0) {
            unsigned sum = 0;
            for (unsigned w = 0; w < warps; w++) sum += hist[w * 131 + lane * pitch];
            unsigned incl = sum;
            for (unsigned d = 1; d < 32; d *= 2) { const unsigned v = __shfl_up_sync(~0u, incl, d); if (lane >= d) incl += v; }
            const unsigned reach = __ballot_sync(~0u, incl >= k), d = reach ? __ffs(reach) - 1 : 31;
            if (lane == d) { found[0] = d; found[1] = sum; found[2] = k - (incl - sum); }
            if (lane < warps) {
                unsigned at = 0;
                for (unsigned w = 0; w < lane; w++) at += hist[w * 131 + d * pitch];
                offset[lane] = at;
            }
        }
        __syncthreads();
        const unsigned want = found[0];
        unsigned at = offset[warp];
        for (unsigned base = warp * 32; base < count; base += blockDim.x) {
            const unsigned i = base + lane;
            bool hit = false;
            unsigned v = 0;
            if (i < count) { v = vals[side][i]; hit = (v >> shift & 31) == want; }
            const unsigned hits = __ballot_sync(all, hit);
            if (!hits) continue;
            if (hit) vals[side ^ 1][at + __popc(hits & (1u << lane) - 1)] = v;
            at += __popc(hits);
        }
        count = found[1];
        k = found[2];
        side ^= 1;
        __syncthreads();
    }
    const unsigned limit = vals[side][0];
    unsigned held = 0;
    for (unsigned base = warp * 32; base < 520; base += blockDim.x) {
        const unsigned i = base + lane, v = i < 520 ? vals[side ^ 1][i] : 0;
        unsigned queue = __ballot_sync(all, v > limit / 2 && (v & 7) < 3);
        while (queue) {
            const unsigned who = __ffs(queue) - 1, x = __shfl_sync(all, v, who);
            queue &= queue - 1;
            const unsigned mine = lane < held ? top[warp][lane] : 0, above = __popc(__ballot_sync(all, lane < 16 && mine >= x));
            if (above >= 16) continue;
            __syncwarp(all);
            if (lane >= above && lane < held && lane < 15) top[warp][lane + 1] = mine;
            if (lane == above) top[warp][lane] = x;
            if (held < 16 && held < __popc(all)) held++;
            __syncwarp(all);
        }
        acc += top[warp][(held + lane * 3) & 15];
        __syncwarp(all);
    }
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc + limit + k;
}
