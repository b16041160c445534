// launch 3 96 n=700
// launch 2x2x2 33x3 n=333
// launch 5 7x5x3 n=128
// launch 2x3 50 n=517
// Persistent blocks take pairs of a triangle in strides through a ring of four stages; the last tile is partial; compaction by
// ballots and lanemask_lt with partial last warps, and prefix loops whose trips differ by warp; strides of 64/128 bits from n.
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned grid_columns() { unsigned r; asm("mov.u32 %0, %%nctaid.x;" : "=r"(r)); return r; }

extern "C" __global__ void k9908(unsigned* out, const unsigned* src, unsigned n, float f)
{
    const unsigned chunk = 128;
    __shared__ __align__(16) unsigned ring[4 * 128];
    __shared__ unsigned table[1024];
    __shared__ unsigned warp_sum[16];
    __shared__ unsigned char packed[128];
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned w = t / 32, lane = t % 32, warps = (nt + 31) / 32;
    const unsigned live = nt - w * 32 < 32 ? nt - w * 32 : 32;
    const unsigned mask = live == 32 ? 0xffffffffu : (1u << live) - 1;
    const unsigned bid = blockIdx.x + grid_columns() * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const unsigned total = n > 1024 ? 1024 : n, tiles = (total + chunk - 1) / chunk, pairs = tiles * (tiles + 1) / 2;
    for (unsigned i = t; i < 1024; i += nt) table[i] = i * 9 + bid;
    for (unsigned i = t; i < 128; i += nt) packed[i] = (unsigned char)i;

    // Pair number p of the triangle: row >= column. The root may round up, so it is put right.
    auto row_of = [](unsigned p) {
        unsigned row = (unsigned)((sqrtf(8.0f * (float)p + 1.0f) - 1.0f) * 0.5f);
        while (row * (row + 1) / 2 > p) --row;
        while ((row + 1) * (row + 2) / 2 <= p) ++row;
        return row;
    };
    auto load = [&](unsigned p, unsigned stage) {
        const unsigned row = row_of(p), valid = total - row * chunk < chunk ? total - row * chunk : chunk;
        for (unsigned i = t; i < chunk; i += nt) {
            const unsigned word = row & 1 ? i * (p + 1) + bid : src[(row * chunk + i) & 65535];
            ring[stage * 128 + (i ^ (stage & 2))] = i < valid ? word : row;
        }
    };

    unsigned acc = 0, trip = 0;
    if (bid < pairs) load(bid, 0);
    for (unsigned p = bid; p < pairs; p += blocks, ++trip) {
        const unsigned stage = trip % 4, row = row_of(p), column = p - row * (row + 1) / 2;
        const unsigned valid = total - row * chunk < chunk ? total - row * chunk : chunk;
        if (p + blocks < pairs) load(p + blocks, (trip + 1) % 4);
        __syncthreads();

        // Vectors at strides from n; a trip later, the stage before as well.
        const uint2 two = ((const uint2*)ring)[stage * 64 + (t * (1 + n % 7) + column) % 64];
        const uint4 four = ((const uint4*)ring)[stage * 32 + (t * (n % 5 + 2)) % 32];
        acc += table[(two.x * 2 + two.y) & 1023] + (four.x ^ four.w);
        if (trip > 0 && column < row) acc += table[(ring[(trip + 3) % 4 * 128 + (t * (row + 1)) % 128] * 4) & 1023];

        // Compaction: the words kept lie one after another, in order of their index.
        unsigned count = 0;
        for (unsigned i0 = 0; i0 < valid; i0 += nt) {
            const unsigned i = i0 + t, word = ring[stage * 128 + i % 128];
            const bool keep = i < valid && (row & 1 ? (i + column) % 3 != bid % 3 : (word & 3) != 0);
            const unsigned votes = __ballot_sync(mask, keep);
            if (lane == 0) warp_sum[w] = __popc(votes);
            __syncthreads();
            unsigned before = count, q = 0;
            for (; q < w; ++q) before += warp_sum[q];
            for (count = before; q < warps; ++q) count += warp_sum[q];
            if (keep) packed[before + __popc(votes & lanes_below())] = (unsigned char)i;
            __syncthreads();
        }
        for (unsigned j = t; j < count; j += nt)
            acc += table[packed[j] * (column + 1) & 1023] * (j + 1);

        // A tail of its own: lanes past the end of a partial tile read backwards.
        if (t >= valid % 64) acc += table[(t - valid % 64) * (2 + row) & 1023];
        else acc ^= ring[stage * 128 + 127 - t % 64];
    }

    // Counters of unlike trips, kept by warp and read by all.
    __syncthreads();
    if (lane == live - 1) warp_sum[w] = trip * 8 + w;
    __syncthreads();
    acc += table[(warp_sum[(lane + trip) % warps] * t) & 1023];
    __syncthreads();
    atomicMax(&table[(t * (trip + 1)) & 1023], acc);
    __syncthreads();
    acc += table[(t * 4 + trip) & 1023];
    out[(bid * nt + t) & 65535] = acc;
}
