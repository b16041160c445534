// launch 2x3x2 7x5x3 n=37
// launch 5 33x3 n=64
// launch 3x1x4 5x1x13 n=101
// launch 4x2 1x64 n=6
// A 3-D stencil whose border lanes also load the halo, in blocks whose warps straddle rows and planes; the pitch, the axis, the
// trips and those who leave early come from blockIdx by division and modulo; ranks in partial last warps.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned grid_layers() { unsigned r; asm("mov.u32 %0, %%nctaid.z;" : "=r"(r)); return r; }

extern "C" __global__ void k9903(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned tile[1024];
    __shared__ unsigned sums[128];
    __shared__ unsigned short packed[512];
    const unsigned bx = blockDim.x, by = blockDim.y, bz = blockDim.z, nt = bx * by * bz;
    const unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const unsigned t = x + bx * (y + by * z), w = t / 32, lane = lane_id();
    const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned pitch = bx + 2 + (bid % 3 == 1);
    const unsigned plane = pitch * (by + 2) + (n & 1);
    const unsigned centre = (z + 1) * plane + (y + 1) * pitch + x + 1;
    const unsigned axis = (bid / 2 + grid_layers()) % 3;
    const unsigned stride = axis == 0 ? 1 : axis == 1 ? pitch : plane;
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) tile[i] = i * (bid + 3);
    for (unsigned i = t; i < 128; i += nt) sums[i] = i ^ bid;
    for (unsigned i = t; i < 512; i += nt) packed[i] = (unsigned short)(511 - i);
    __syncthreads();

    const unsigned last = 4 + n % 3, hop = 1 + bid / 5;
    for (unsigned step = bid % 4; step < last; step += hop) {
        const unsigned fresh = (step & 1) ? t * (bid + 2) + step : src[(t * 5 + bid * n + step) & 65535];
        tile[centre] = fresh & 255;
        if (x == 0) tile[centre - 1] = y * 3 + step;
        if (x == bx - 1) tile[centre + 1] = step * 7 + z;
        if (y == 0) tile[centre - pitch] = x * 2 + z;
        if (y == by - 1) tile[centre + pitch] = x * 4 + bid;
        if (z == 0) tile[centre - plane] = y * bx + x;
        if (z == bz - 1) tile[centre + plane] = x + y;
        __syncthreads();

        const unsigned before = tile[centre - stride], after = tile[centre + stride];
        atomicAdd(&sums[(before * 2 + step) & 127], 1u);
        if ((blockIdx.z + step) % 2) {
            acc += before + after - 2 * tile[centre];
            if (bz > 1) acc += tile[centre - plane] * tile[centre + pitch];
        }
        __syncthreads();
        acc += sums[(t * 3 + after) & 127] * (step + 1);
        if (t % (bid % 5 + 2) == 0) acc ^= tile[(after * 4 + x * (bid % 4)) & 1023];
        __syncthreads();
    }

    // Ranks within a warp, which in the last one has fewer lanes, and a compacted list per warp.
    const unsigned live = nt - w * 32 < 32 ? nt - w * 32 : 32;
    const unsigned mask = live == 32 ? 0xffffffffu : (1u << live) - 1;
    const bool chosen = (x + y * bid + z) % 3 != 1;
    const unsigned votes = __ballot_sync(mask, chosen);
    if (chosen) packed[w * 32 + __popc(votes & lanes_below())] = (unsigned short)t;
    __syncwarp(mask);
    acc += tile[(packed[w * 32 + lane] * (blockIdx.x + 1)) & 1023];
    const unsigned other = __shfl_sync(mask, x * 8 + y, (lane * 5 + bid) % live);
    acc += tile[(other * 4 + __popc(votes) * w) & 1023];
    acc += tile[(lane * (1 + bid % 4) * 8 + y) & 1023];

    // The last column leaves in every other layer, whichever warps it lies in.
    out[(bid * nt + t) & 32767] = acc;
    __syncthreads();
    if (bx > 1 && x == bx - 1 && (blockIdx.z + blockIdx.y) % 2 == 0) return;
    __syncthreads();
    acc = tile[(t * (bid % 7 + 1)) & 1023] + packed[(t * 2 + bid) & 511];
    for (unsigned k = x; k < bx + y; k += 3) acc += sums[(k * bx + z) & 127];
    out[32768 + ((bid * nt + t) & 32767)] = acc;
}
