// launch 1 128 n=3
// launch 2 160 n=10
// launch 1 104 n=21
// Only some warps sort (src says which): each its own 64-bit run of a length of its own, then together through a barrier named for just them, in descending strides by goto; the rest wait at another barrier and check by volatile loads.
typedef unsigned long long u64;
__device__ __forceinline__ void meet(unsigned id, unsigned threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }

extern "C" __global__ void k9983(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ u64 run[5][128 + 1];
    __shared__ u64 all[256];
    __shared__ unsigned sizes[5], joins[5];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = (blockDim.x + 31) / 32;
    const unsigned mask = warp * 32 + 32 <= blockDim.x ? ~0u : (1u << (blockDim.x & 31)) - 1, width = __popc(mask);
    if (t < warps) {
        const unsigned v = src[(t * 331 + n * 97 + blockIdx.x * 50) & 4095];
        joins[t] = v % 3 != 0 || t == 1;
        sizes[t] = 16u << (v >> 3) % 4;
    }
    for (unsigned i = t; i < 5 * 129; i += blockDim.x) ((u64*)run)[i] = (u64)src[(i * 29 + n) & 4095] << 32 | i;
    for (unsigned i = t; i < 256; i += blockDim.x) all[i] = (u64)src[(i * 173 + n * 5) & 4095] << 33 | src[i * 11 & 4095];
    __syncthreads();
    unsigned rank = 0, team = 0, acc = 0;
    for (unsigned w = 0; w < warps; w++) { if (w == warp) rank = team; team += joins[w]; }
    if (joins[warp]) {
        u64* const mine = run[warp];
        const unsigned size = sizes[warp];
        for (unsigned k = 2; k <= size; k *= 2)
            for (unsigned j = k / 2; j; j /= 2) {
                for (unsigned i = lane; i < size; i += width) {
                    const unsigned other = i ^ j;
                    if (other < i) continue;
                    const u64 a = mine[i], b = mine[other];
                    if ((a > b) == !(i & k)) {
                        mine[i] = b;
                        mine[other] = a;
                    }
                }
                __syncwarp(mask);
            }
        unsigned k = 2, j = 1;
    again:
        for (unsigned i = rank * 32 + lane; i < 256; i += team * 32) {
            const unsigned low = (i & j - 1) | (i & ~(j - 1)) << 1, high = low | j;
            if (low >= 256) break;
            const u64 a = all[low], b = all[high];
            const bool up = (low & k) == 0;
            if (up ? a > b : a < b) { all[low] = b; all[high] = a; acc++; }
            else if ((a ^ b) & 1) acc += (unsigned)(a >> 33);
        }
        meet(1, team * 32);
        if (j >>= 1) goto again;
        if ((k <<= 1) <= 256) { j = k >> 1; goto again; }
        acc += (unsigned)mine[(lane * 5 + rank) & (size - 1)];
        meet(2, warps * 32);
    } else {
        const volatile u64* const own = run[warp];
        for (unsigned i = lane, r = 0; r < 6; r++) {
            const u64 v = own[i];
            acc += (unsigned)(v >> 32) ^ (unsigned)v;
            i = (unsigned)(v >> 32) * 2 + r & 127;
            if ((v >> 34) % 5 == 0) break;
        }
        meet(2, warps * 32);
        const volatile unsigned* const words = (const volatile unsigned*)all;
        for (unsigned i = lane; i < 512; i += 64) acc ^= words[i * 9 & 511];
    }
    __syncthreads();
    unsigned lo = 0, hi = 255;
    const u64 want = (u64)src[(t * 37 + n) & 4095] << 33;
    while (lo < hi) {
        const unsigned mid = (lo + hi) >> 1;
        if (all[mid] < want) lo = mid + 1; else hi = mid;
    }
    acc += lo + (unsigned)all[(lo * 16 + t) & 255];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
