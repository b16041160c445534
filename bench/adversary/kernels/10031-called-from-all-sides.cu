// launch 2 96 n=700
// launch 1 64 n=21
// launch 1 16x3x2 n=8
// Functions with loops that lanes call from different sites (if, else, a loop, another function, a table of functions by lane), so one load in the callee is reached by lanes of different sites and trips; callee arguments count the caller's rounds.
__shared__ unsigned tab[32 + 31 * 72];
__shared__ unsigned long long longs[32 + 15 * 40];
__device__ __noinline__ unsigned walk(unsigned lane, unsigned row, unsigned steps) {
    unsigned acc = 0;
    while (true) {
        acc += tab[lane + 31 * row];
        row++;
        if (steps-- == 0) break;
        if ((acc + lane) % 3 == 0) continue;
        acc ^= tab[lane + 31 * (row + 2)];
        if (acc % 16 == 15) return acc + row;
    }
    return acc;
}
__device__ __noinline__ unsigned twice(unsigned lane, unsigned row, unsigned v) {
    const unsigned a = walk(lane, row, v & 3);
    if (a & 1) return a;
    return a + walk(lane, row + 1, (v >> 2) & 3) + (unsigned)longs[lane + 15 * row];
}
__device__ __noinline__ unsigned once(unsigned lane, unsigned row, unsigned v) { return (unsigned)(longs[lane + 15 * row] >> (v & 7)); }
typedef unsigned (*Fn)(unsigned, unsigned, unsigned);

extern "C" __global__ void k10031(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y * blockDim.z, lane = t & 31;
    for (unsigned i = t; i < 32 + 31 * 72; i += all) tab[i] = i * 19;
    for (unsigned i = t; i < 32 + 15 * 40; i += all) longs[i] = i * 0x100000007ull;
    __syncthreads();
    const unsigned own = src[(t * 13 + n) & 4095];
    unsigned acc = own;
    for (unsigned r = 0; r < 8 + (n & 3); r++) {
        if ((own >> r % 9) & 1) acc += walk(lane, r, 2);
        else if (lane & 2) { acc ^= twice(lane, r, own + r); if (acc & 4) continue; }
        else { for (unsigned k = 0; k < 1 + (lane & 1); k++) acc += walk(lane, r + 8 * k, k + 1); }
        if ((lane + r) % 5 == 4) { acc += once(lane, r, 3); continue; }
        const Fn fn = (acc >> 1) % 3 == 0 ? walk : (acc >> 1) % 3 == 1 ? twice : once;
        acc += fn(lane, r + 1, (own ^ r) & 7);
        if (acc % 29 == 28) break;
    }
    acc += walk(lane, lane & 1, own & 3);
    __syncthreads();
    acc += tab[t] + (unsigned)longs[t];
    out[(blockIdx.x * all + t) & 4095] = acc;
}
