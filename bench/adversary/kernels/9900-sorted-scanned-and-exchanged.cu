// launch 2 128 n=6
// launch 3 96 n=11
// launch 1 16x4x2 n=3
// launch 4 12x6 n=8
// Block algorithms of CUB for four shapes of a block (one of them ragged) in one pool of bytes: scans by three algorithms, of
// counters and of 12-byte maps, radix sorts over bits that a loop chooses, loads and stores with transposes, exchanges by ranks.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/span>

struct Map { unsigned mul; short low, high; unsigned add; };                      // 12 bytes
struct alignas(16) Entry { unsigned key; short tag, rank; double weight; };       // 16 bytes

struct Compose {
    __device__ Map operator()(const Map& a, const Map& b) const {
        return {a.mul * b.mul, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.add * b.mul + b.add};
    }
};

constexpr int POOL = 24576;

template <class Algorithm> __device__ typename Algorithm::TempStorage& room(unsigned char* pool) {
    static_assert(sizeof(typename Algorithm::TempStorage) <= POOL, "the pool is too small");
    __syncthreads();                                                              // everybody has left the previous tenant
    return *reinterpret_cast<typename Algorithm::TempStorage*>(pool);
}

template <int X, int Y, int Z>
__device__ unsigned work(unsigned char* pool, unsigned* table, const unsigned* src, unsigned* out, unsigned n) {
    constexpr int T = X * Y * Z;
    constexpr bool whole = T % 32 == 0;
    const unsigned t = threadIdx.x + X * (threadIdx.y + Y * threadIdx.z), b = blockIdx.x;
    unsigned acc = 0;

    // scans; prefixes are places, the aggregate a stride
    using Raking = cub::BlockScan<unsigned, X, cub::BLOCK_SCAN_RAKING, Y, Z>;
    unsigned place, total;
    Raking(room<Raking>(pool)).ExclusiveSum((t * 5 + n) & 7, place, total);
    acc += table[(place * 4 + total) & 1023];
    using Warps = cub::BlockScan<Map, X, cub::BLOCK_SCAN_WARP_SCANS, Y, Z>;
    Map map = {2 * (t % 3) + 1, short(-int(t)), short(t * 7 % 50), t + b}, all;
    Warps(room<Warps>(pool)).InclusiveScan(map, map, Compose(), all);
    acc += table[(map.add + all.add) & 1023] + table[(unsigned)(map.high - map.low) * 8 & 1023] + map.mul;
    using Memoize = cub::BlockScan<double, X, cub::BLOCK_SCAN_RAKING_MEMOIZE, Y, Z>;
    double terms[3] = {t * 0.5, 1.0, double(t & 3)};
    Memoize(room<Memoize>(pool)).InclusiveSum(terms, terms);
    for (int i = 0; i < 3; i++) acc += table[(unsigned)(terms[i] * 2) & 1023];

    // sorts over windows of bits: shorts with negative ones, then doubles with entries of 16 bytes
    using Shorts = cub::BlockRadixSort<short, X, 3, unsigned char, 4, true, cub::BLOCK_SCAN_WARP_SCANS, cudaSharedMemBankSizeFourByte, Y, Z>;
    short keys[3];
    unsigned char labels[3];
    for (int i = 0; i < 3; i++) {
        keys[i] = short((int)(__brev(t * 3 + i) >> 22) - 500 + (int)n);
        labels[i] = (unsigned char)(t * 3 + i);
    }
    for (unsigned k = 0; k < 1 + n % 3; k++) {
        if (k & 1) Shorts(room<Shorts>(pool)).SortDescending(keys, labels, 0, 16);
        else Shorts(room<Shorts>(pool)).Sort(keys, labels, k * 2, 9 + k);
        for (int i = 0; i < 3; i++) acc += table[(unsigned)(keys[i] + 500) * 2 & 1023] + table[(labels[i] * (k + 1)) & 1023];
    }
    using Doubles = cub::BlockRadixSort<double, X, 2, Entry, 6, false, cub::BLOCK_SCAN_RAKING, cudaSharedMemBankSizeEightByte, Y, Z>;
    double reals[2] = {(double)(t * 37 % T) - 20.5, -0.25 * (double)((t * 11 + n) % T)};
    Entry entries[2] = {{t * 4, short(t), 1, reals[0]}, {t * 12 + b, short(-int(t)), 2, reals[1]}};
    Doubles(room<Doubles>(pool)).SortBlockedToStriped(reals, entries);
    for (int i = 0; i < 2; i++) acc += table[(entries[i].key + entries[i].rank * 8) & 1023] + table[(unsigned)(int)(reals[i] * 4) & 1023] + entries[i].tag;

    // words of src decide the order of a third sort; half of it goes by bits that are computed
    using Words = cub::BlockRadixSort<unsigned, X, 2, short, 5, true, cub::BLOCK_SCAN_RAKING_MEMOIZE, cudaSharedMemBankSizeFourByte, Y, Z>;
    unsigned words[2] = {src[(b * T + t) & 4095] & 0xff00 | (t * 29 & 255), (t * 2654435761u) & 0xff00 | (t & 255)};
    short from[2] = {short(t * 2), short(t * 2 + 1)};
    Words(room<Words>(pool)).Sort(words, from, 0, 8);
    acc += table[(words[0] & 255) * 4] + table[(from[1] * 3) & 1023];
    Words(room<Words>(pool)).SortDescending(words, from, 8, 16);
    acc += table[(words[0] & 1023)] + table[(from[0] * 8) & 1023];

    // transposes on the way in and out
    if constexpr (whole) {
        using Load = cub::BlockLoad<unsigned, X, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE, Y, Z>;
        using Sliced = cub::BlockLoad<double, X, 3, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, Y, Z>;
        using Store = cub::BlockStore<short, X, 5, cub::BLOCK_STORE_WARP_TRANSPOSE, Y, Z>;
        unsigned loaded[4];
        double numbers[3];
        short results[5];
        Load(room<Load>(pool)).Load(src + b * T, loaded, T * 4 - (int)n, 7u);
        Sliced(room<Sliced>(pool)).Load(reinterpret_cast<const double*>(src) + b, numbers);
        for (int i = 0; i < 5; i++) results[i] = short(loaded[i & 3] & 255);
        acc += table[loaded[3] & 1023] + table[__double2loint(numbers[2]) & 1023];
        Store(room<Store>(pool)).Store(reinterpret_cast<short*>(out + 32768 + b * 512), results);
    } else {
        using Load = cub::BlockLoad<unsigned char, X, 6, cub::BLOCK_LOAD_TRANSPOSE, Y, Z>;
        unsigned char loaded[6];
        Load(room<Load>(pool)).Load(reinterpret_cast<const unsigned char*>(src) + b * 3, loaded, (int)(T * 5 + n), (unsigned char)9);
        for (int i = 0; i < 6; i++) acc += table[loaded[i] * 4];
    }

    // exchanges; the ranks are a permutation of all items, then the blocked order again
    using Exchange = cub::BlockExchange<Entry, X, 3, false, Y, Z>;
    using Bytes = cub::BlockExchange<unsigned char, X, 4, whole, Y, Z>;
    Entry items[3];
    int ranks[3];
    for (int i = 0; i < 3; i++) {
        items[i] = {t * 3 + i, short(i), short(t), t * 0.25};
        ranks[i] = (int)(((t * 3 + i) * 5 + n) % (T * 3));
    }
    Exchange(room<Exchange>(pool)).ScatterToStriped(items, ranks);
    for (int i = 0; i < 3; i++) acc += table[(items[i].key * 2 + items[i].tag) & 1023];
    Exchange(room<Exchange>(pool)).StripedToBlocked(items, items);
    acc += table[(items[n % 3].key * 4) & 1023] + (unsigned)items[0].weight;
    unsigned char bytes[4] = {(unsigned char)t, (unsigned char)(t * 3), (unsigned char)(t >> 1), (unsigned char)n};
    if constexpr (whole) Bytes(room<Bytes>(pool)).BlockedToWarpStriped(bytes, bytes);
    else Bytes(room<Bytes>(pool)).BlockedToStriped(bytes, bytes);
    cuda::std::array<unsigned, 4> ends = {bytes[0], bytes[1], bytes[2], bytes[3]};
    for (unsigned e : ends) acc += table[e * 4];
    __syncthreads();
    return acc + reinterpret_cast<unsigned*>(pool)[(t * 3) % T];                 // what the last tenant left behind
}

extern "C" __global__ void k9900(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned char pool[POOL];
    __shared__ unsigned table[1024];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z, t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (unsigned i = t; i < POOL / 4; i += T) reinterpret_cast<unsigned*>(pool)[i] = i;
    for (unsigned i = t; i < 1024; i += T) table[i] = (i * 7 + n) & 1023;
    __syncthreads();
    cuda::std::optional<unsigned> acc;
    if (blockDim.y == 1) {
        if (T == 128) acc = work<128, 1, 1>(pool, table, src, out, n);
        else if (T == 96) acc = work<96, 1, 1>(pool, table, src, out, n);
    } else if (T == 128) acc = work<16, 4, 2>(pool, table, src, out, n);
    else if (T == 72) acc = work<12, 6, 1>(pool, table, src, out, n);
    out[blockIdx.x * T + t] = acc.value_or(t);
}
