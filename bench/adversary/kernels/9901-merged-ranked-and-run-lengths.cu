// launch 2 128 n=7
// launch 3 8x8 n=10
// launch 1 16x5 n=4
// launch 2 32x3x2 n=13
// Block and warp algorithms of CUB over one pool: histograms of computed bytes and of src by atomics and by sorting, merge sorts
// of parts of a warp and of a block, ranks of digits, reductions in three ways, run lengths decoded window by window.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cuda/std/complex>
#include <cuda/std/mdspan>

struct Card { unsigned value; short suit, rank; int owner; };                     // 12 bytes
struct alignas(16) Span { double length; unsigned first, last; };                 // 16 bytes

struct Lower {
    __device__ bool operator()(const Card& a, const Card& b) const { return a.suit != b.suit ? a.suit < b.suit : a.value > b.value; }
    __device__ bool operator()(const Span& a, const Span& b) const { return a.length < b.length; }
    __device__ bool operator()(short a, short b) const { return (a & 63) < (b & 63); }
};

struct Chain {                                                                    // does not commute
    __device__ Span operator()(const Span& a, const Span& b) const { return {a.length + b.length, a.first, b.last}; }
};

constexpr int POOL = 24576;
template <class Algorithm, int MANY = 1> __device__ typename Algorithm::TempStorage* rooms(unsigned char* pool) {
    static_assert(sizeof(typename Algorithm::TempStorage) * MANY <= POOL, "the pool is too small");
    __syncthreads();
    return reinterpret_cast<typename Algorithm::TempStorage*>(pool);
}

template <int X, int Y, int Z>
__device__ unsigned work(unsigned char* pool, unsigned* bins, const unsigned* table, const unsigned* src, unsigned n) {
    constexpr int T = X * Y * Z;
    const unsigned t = threadIdx.x + X * (threadIdx.y + Y * threadIdx.z), b = blockIdx.x;
    unsigned acc = 0;

    // histograms: computed bytes, then words of src; the counts are looked at as a matrix with two layouts
    using Atomic = cub::BlockHistogram<unsigned char, X, 4, 64, cub::BLOCK_HISTO_ATOMIC, Y, Z>;
    using Sorted = cub::BlockHistogram<unsigned short, X, 3, 64, cub::BLOCK_HISTO_SORT, Y, Z>;
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)((t * (i + 1) + n * i) & 63);
    unsigned short halves[3] = {(unsigned short)(b & 63), (unsigned short)((t * 5 + b) & 63), (unsigned short)((t * 10 + b) & 63)};
    Atomic(*rooms<Atomic>(pool)).Histogram(bytes, bins);
    __syncthreads();
    cuda::std::mdspan<unsigned, cuda::std::extents<int, 8, 8>, cuda::std::layout_left> left(bins);
    cuda::std::mdspan<unsigned, cuda::std::dextents<int, 2>> right(bins, 4, 16);
    acc += table[(left(t & 7, (t >> 3) & 7) * 8 + t) & 1023] + table[(right(t & 3, (t >> 2) & 15) * 32) & 1023];
    Sorted(*rooms<Sorted>(pool)).Composite(halves, bins);
    __syncthreads();
    acc += table[(bins[(t * 3) & 63] * 4) & 1023];
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(src[(b * T + t * 4 + i) & 4095] & 63);
    Atomic(*rooms<Atomic>(pool)).Composite(bytes, bins);
    __syncthreads();
    acc += table[(bins[t & 63] * 2) & 1023];

    // merge sorts: cards by eight lanes, spans with shorts by sixteen, then the whole block where its size allows it
    using Eight = cub::WarpMergeSort<Card, 3, 8>;
    using Sixteen = cub::WarpMergeSort<Span, 2, 16, short>;
    Card cards[3] = {{t * 33 % 97, short(t & 3), 0, int(t)}, {(t * 33 + 11) % 97, short((t + 1) & 3), 1, int(t)}, {(t * 33 + 22) % 97, 2, 2, int(t)}};
    Eight(rooms<Eight, T / 8>(pool)[t / 8]).Sort(cards, Lower());
    for (int i = 0; i < 3; i++) acc += table[(cards[i].value * 8 + cards[i].owner) & 1023] + cards[i].rank;
    short tags[2] = {short(t * 2), short(t * 2 + 1)};
    Span spans[2] = {{(t * 7 % 32) * 0.5, t, t * 2}, {(t * 5 + n) % 32 * 0.25, t * 3, n}};
    Sixteen(rooms<Sixteen, T / 16>(pool)[t / 16]).StableSort(spans, tags, Lower());
    for (int i = 0; i < 2; i++) acc += table[(spans[i].first * 4) & 1023] + table[(tags[i] * 2) & 1023] + spans[i].last;
    if constexpr ((T & (T - 1)) == 0) {
        using Merge = cub::BlockMergeSort<Card, X, 3, cub::NullType, Y, Z>;
        using Shorts = cub::BlockMergeSort<short, X, 5, double, Y, Z>;
        Merge(*rooms<Merge>(pool)).Sort(cards, Lower(), T * 3 - (int)n, Card{0, 32767, 0, 0});
        acc += table[(cards[0].value + cards[1].owner * 4) & 1023] + cards[2].suit;
        short keys[5] = {short(t * 5), short(t * 3), short(src[(t + b) & 4095] & 31), short(t), short(t * 7)};
        double values[5] = {t * 1., t + 0.5, t + 1., t + 1.5, n + 2.};
        Shorts(*rooms<Shorts>(pool)).StableSort(keys, values, Lower());
        for (int i = 0; i < 5; i++) acc += table[(keys[i] * 16) & 1023] + (unsigned)values[i];
    }

    // ranks of digits, by counters and (in whole warps) by matching lanes; the ranks scatter the keys
    using Rank = cub::BlockRadixRank<X, 4, false, true, cub::BLOCK_SCAN_WARP_SCANS, cudaSharedMemBankSizeFourByte, Y, Z>;
    unsigned digits[2] = {t * 13 + n, (t * t) ^ b};
    int ranks[2];
    Rank(*rooms<Rank>(pool)).RankKeys(digits, ranks, cub::BFEDigitExtractor<unsigned>(1, 3));
    short* scattered = reinterpret_cast<short*>(rooms<Rank>(pool));
    for (int i = 0; i < 2; i++) scattered[ranks[i]] = short(digits[i]);
    __syncthreads();
    acc += table[((unsigned short)scattered[t * 2] * 4) & 1023] + table[(unsigned short)scattered[T * 2 - 1 - t] & 1023];
    if constexpr (T % 32 == 0) {
        using Match = cub::BlockRadixRankMatch<X, 5, true, cub::BLOCK_SCAN_WARP_SCANS, Y, Z>;
        Match(*rooms<Match>(pool)).RankKeys(digits, ranks, cub::BFEDigitExtractor<unsigned>(0, 5));
        acc += table[(ranks[0] * 2) & 1023] + table[(ranks[1] * 8) & 1023];
    }

    // reductions: raking and not commuting, by warps, and over some of the threads
    using Raking = cub::BlockReduce<Span, X, cub::BLOCK_REDUCE_RAKING, Y, Z>;
    using Commuting = cub::BlockReduce<int, X, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, Y, Z>;
    using Warps = cub::BlockReduce<double, X, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Y, Z>;
    Span chain = Raking(*rooms<Raking>(pool)).Reduce(Span{t * 0.5, t + 3, t ^ n}, Chain());
    int sum = Commuting(*rooms<Commuting>(pool)).Sum(int(t * 3 % 17));
    double some = Warps(*rooms<Warps>(pool)).Sum(t * 0.25, T - (int)n);         // the first T - n threads
    if (t == 0) { bins[0] = (unsigned)chain.length + chain.last; bins[1] = sum; bins[2] = (unsigned)some; bins[3] = chain.first; }
    __syncthreads();
    acc += table[(bins[t & 3] + t * (bins[1] & 7)) & 1023];

    // runs: where neighbours differ, how long they are, and what they decode to
    using Flags = cub::BlockDiscontinuity<int, X, Y, Z>;
    using Differences = cub::BlockAdjacentDifference<int, X, Y, Z>;
    using Shift = cub::BlockShuffle<unsigned, X, Y, Z>;
    using Runs = cub::BlockRunLengthDecode<short, X, 2, 3, unsigned, Y, Z>;
    int steps[2] = {int(t / 3), int((t + 1) / 3)}, heads[2], gaps[2];
    Flags(*rooms<Flags>(pool)).FlagHeads(heads, steps, cuda::std::not_equal_to<>());
    Differences(*rooms<Differences>(pool)).SubtractLeft(steps, gaps, cuda::std::minus<>());
    unsigned turned, moved = n;
    Shift(*rooms<Shift>(pool)).Rotate(t * 5, turned, n % T);
    Shift(*rooms<Shift>(pool)).Offset(t * 3, moved, t & 1 ? 3 : -2);
    acc += table[(turned * 2 + heads[0]) & 1023] + table[(moved * 4 + gaps[1]) & 1023];
    short labels[2] = {short(t * 9), short(t * 9 + 4)}, decoded[3];
    unsigned lengths[2] = {1 + (t + n) % 5, 1 + heads[1] * 2u}, offsets[3], total;
    Runs runs(*rooms<Runs>(pool), labels, lengths, total);
    for (unsigned window = 0; window < total; window += T * 3) {
        runs.RunLengthDecode(decoded, offsets, window);
        for (unsigned i = 0; i < 3; i++)
            if (window + t * 3 + i < total) acc += table[(decoded[i] * 2 + offsets[i] * 32) & 1023];
    }
    using Parts = cub::WarpExchange<cuda::std::complex<float>, 4, 8>;
    cuda::std::complex<float> points[4] = {float(t * 4), float(t * 4 + 1), {float(t * 4 + 2), float(n)}, {float(t), float(n)}};
    Parts(rooms<Parts, T / 8>(pool)[t / 8]).StripedToBlocked(points, points);
    return acc + table[(unsigned)(points[n & 3].real() * 2) & 1023] + (unsigned)points[1].imag();
}

extern "C" __global__ void k9901(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned char pool[POOL];
    __shared__ unsigned table[1024], bins[64];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z, t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (unsigned i = t; i < 1024; i += T) table[i] = (i * 11 + n) & 1023;
    __syncthreads();
    unsigned acc = t;
    if (T == 128 && blockDim.y == 1) acc = work<128, 1, 1>(pool, bins, table, src, n);
    else if (T == 64 && blockDim.x == 8) acc = work<8, 8, 1>(pool, bins, table, src, n);
    else if (T == 80 && blockDim.x == 16) acc = work<16, 5, 1>(pool, bins, table, src, n);
    else if (T == 192 && blockDim.z == 2) acc = work<32, 3, 2>(pool, bins, table, src, n);
    out[blockIdx.x * T + t] = acc;
}
