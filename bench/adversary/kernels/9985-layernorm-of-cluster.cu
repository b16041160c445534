// launch 4 96 n=10 cluster=2
// launch 4 128 n=7 cluster=4
// launch 2 64 n=16 cluster=1
// launch 6 80 n=3 cluster=2
// Layer norm of rows split over a cluster: 128-bit rows to a padded transpose, shuffles and partial sums, each rank reads its fellows' sums by mapa (v2 and v4, unlike lanes unlike ranks), adds to their counters, and picks words by the whole-number mean.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned ranks() { unsigned r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned rank_of() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned mapa(unsigned a, unsigned rank) { unsigned r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
__device__ __forceinline__ void all_meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ uint2 far2(unsigned a) { uint2 v; asm volatile("ld.shared::cluster.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ uint4 far4(unsigned a) { uint4 v; asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ void far_add(unsigned a, unsigned v) { asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }
__device__ __forceinline__ void far_put(unsigned a, unsigned v) { asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }

extern "C" __global__ void k9985(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned row[4 * 320], turned[33 * 40], share[2][32], votes[64];
    __shared__ unsigned part[2][4];
    __shared__ float scale[40];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = (blockDim.x + 31) / 32, me = rank_of(), of = ranks();
    const unsigned mask = warp * 32 + 32 <= blockDim.x ? ~0u : (1u << (blockDim.x & 31)) - 1;
    const unsigned quads = 40 + n % 5 * 8, cols = quads * 4, group = blockIdx.x / of;
    for (unsigned i = t; i < 33 * 40; i += blockDim.x) { turned[i] = i; if (i < 1280) row[i] = 0; if (i < 64) { votes[i] = 0; ((unsigned*)share)[i] = 0; } if (i < 40) scale[i] = f; }
    all_meet();
    unsigned acc = 0;
    const unsigned rows = 2 + n % 3;
    for (unsigned r = 0; r < rows; r++) {
        unsigned sum = 0, high = 0;
        for (unsigned i = t; i < quads; i += blockDim.x) {
            const uint4 v = *(const uint4*)(src + (((group * 5 + r * 3 + me) * 88 + i * 4) & 4092));
            *(uint4*)(row + (i ^ (i >> 3 & 3)) * 4) = v;
            sum += v.x + v.y + v.z + v.w;
            high = max(max(high, v.x), max(v.y, max(v.z, v.w)));
        }
        for (unsigned d = 16; d; d /= 2) {
            const unsigned s = __shfl_down_sync(mask, sum, d);
            if (lane + d < 32 && mask >> (lane + d & 31) & 1) sum += s;
        }
        high = __reduce_max_sync(mask, high);
        if (lane == 0) { part[0][warp] = sum; part[1][warp] = high; }
        __syncthreads();
        if (t < 2) {
            unsigned s = 0;
            for (unsigned w = 0; w < warps; w++) s = t ? max(s, part[1][w]) : s + part[0][w];
            for (unsigned q = 0; q < of; q++) far_put(mapa(sa(&share[r & 1][me * 4 + t]), (q + me) % of), s);
            share[r & 1][16 + t] = s;
        }
        for (unsigned i = t; i < cols; i += blockDim.x) turned[(i & 31) * (n & 1 ? 33 : 40) + (i >> 5)] = row[((i >> 2) ^ (i >> 5 & 3)) * 4 + (i & 3)];
        all_meet();
        unsigned total = 0, peak = 0;
        for (unsigned q = 0; q < of; q++) { total += share[r & 1][q * 4]; peak = max(peak, share[r & 1][q * 4 + 1]); }
        const unsigned mean = total / (cols * of), who = (lane + r) % of;
        const uint2 theirs = far2(mapa(sa(&share[r & 1][16]), who));
        if (theirs.x > mean * cols || (lane & 3) == 1) {
            const uint4 v = far4(mapa(sa(row), (who + 1) % of) + ((mean + lane * (1 + r)) % quads) * 16);
            acc += v.x ^ v.w;
            if (v.y > mean) far_add(mapa(sa(votes), who) + ((v.y + lane) & 63) * 4, v.y);
        } else {
            acc += far2(mapa(sa(turned), of - 1 - who) + ((lane * (peak & 15) + r) % 600) * 8).y;
        }
        for (unsigned i = t; i < cols; i += blockDim.x) {
            const unsigned x = turned[(i & 31) * (n & 1 ? 33 : 40) + (i >> 5)];
            if (x < mean) continue;
            const float y = ((float)x - (float)mean) * scale[(x - mean) % 40] * rsqrtf((float)(peak + 1));
            acc += __float_as_uint(y) >> 20;
            if (x - mean > peak / 2) { acc += row[(x - mean) * 4 % 1280]; break; }
        }
        all_meet();
        if (t < 20) scale[t + (r & 1) * 20] = (float)(mean + t) * f;
        __syncthreads();
    }
    acc += votes[(t * 4 + me) & 63];
    all_meet();
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
