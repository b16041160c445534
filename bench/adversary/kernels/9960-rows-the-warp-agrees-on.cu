// launch 1 128 n=4
// launch 3 47 n=11
// launch 2 96 n=30
// launch 1 20 n=7
// Rows, pitches and widths that all lanes agree on, broadcast from a lane that data choose (shfl, redux, ballot, chained).
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9960(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ uint4 tile[512];
    __shared__ double column[4][128];
    const unsigned t = threadIdx.x, wid = t / 32, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    unsigned* words = reinterpret_cast<unsigned*>(tile);
    uint2* pairs = reinterpret_cast<uint2*>(tile);
    for (unsigned k = t; k < 2048; k += blockDim.x) words[k] = (k * 37) & 1023;
    for (unsigned k = lane; k < 128; k += count) column[wid][k] = k * f;
    __syncthreads();
    unsigned acc = 0;
    for (unsigned r = 0; r < 4; r++) {
        const unsigned v = src[(blockIdx.x * 290 + t * 11 + r * (n + 64)) & 4095];
        __syncwarp(live);
        // From the lane that the first lane's value names; then from the lane that this one names.
        const unsigned one = __shfl_sync(live, v, __shfl_sync(live, v, 0) % count);
        const unsigned two = __shfl_sync(live, v * 3 + lane, one % count);
        acc += words[(one * 32 + lane) & 2047];
        acc += words[(one + lane * (two & 31)) & 2047];
        const uint2 p = pairs[((two & 15) * 33 + lane * (1 + (one & 7))) & 1023];
        acc ^= p.x + p.y;
        const uint4 q = tile[((one & 3) * 65 + lane * (1u << (two & 3))) & 511];
        acc += q.x ^ q.z;
        // The largest value's lane: its row; the smallest: its pitch.
        const unsigned top = __reduce_max_sync(live, v * 32 + lane), low = __reduce_min_sync(live, v * 32 + 31 - lane);
        acc += words[((top & 31) * 33 + (low >> 5 & 63) * lane) & 2047];
        // Bits that all or some lanes have.
        const unsigned all = __reduce_and_sync(live, v | 16), some = __reduce_or_sync(live, v & 0x3f), odd = __reduce_xor_sync(live, v);
        acc += words[(all * lane + odd) & 2047] + pairs[(some * lane + odd * 4) & 1023].y;
        // The width of the access is agreed on, too.
        const unsigned width = __popc(__ballot_sync(live, v & 1)) % 3;
        if (width == 0) acc += words[lane * 8 + (odd & 7)];
        else if (width == 1) acc += pairs[lane * 8 + (odd & 7)].x;
        else acc += tile[lane * 8 + (odd & 7)].y;
        // A lane of the branch broadcasts to the branch only.
        double d = 0;
        if (v > (one & 511)) {
            const unsigned m = __activemask();
            const unsigned last = 31 - __clz(m);
            const unsigned base = __shfl_sync(m, v, last);
            d = column[wid][(base + __popc(m & lt) * (1 + (base & 3))) & 127];
        }
        __syncwarp(live);
        if (two & 1) column[wid][((one & 3) + lane * 4) & 127] = d + lane;
        else column[wid][((one & 63) + lane) & 127] = d - lane;
        __syncwarp(live);
        acc += (unsigned)(int)column[wid][(lane * (1 + width) + two) & 127];
        __syncwarp(live);
    }
    __syncthreads();
    const unsigned v = __shfl_sync(live, acc, (acc ^ __shfl_sync(live, acc, count - 1)) % count);
    words[(t * 4 + (__shfl_sync(live, src[t & 4095], count / 2) & 3)) & 2047] = v;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = acc + words[(t * 12) & 2047];
}
