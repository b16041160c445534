// CUB's block-wide data movement: exchanges, transposing loads and stores, shuffles, discontinuities.

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>

template <typename T, int Threads, int Items, bool TimeSlicing>
__device__ void striped_to_blocked(const T* in, T* out) {
    using Exchange = cub::BlockExchange<T, Threads, Items, TimeSlicing>;
    __shared__ typename Exchange::TempStorage storage;
    T items[Items];
    cub::LoadDirectStriped<Threads>(threadIdx.x, in + blockIdx.x * Threads * Items, items);
    Exchange(storage).StripedToBlocked(items, items);
    __syncthreads();
    for (int i = 0; i < Items; i++) items[i] = items[i] + items[0];
    Exchange(storage).BlockedToStriped(items, items);
    cub::StoreDirectStriped<Threads>(threadIdx.x, out + blockIdx.x * Threads * Items, items);
}

extern "C" __global__ void exchange_int_7(const int* in, int* out) { striped_to_blocked<int, 128, 7, false>(in, out); }
extern "C" __global__ void exchange_int_8(const int* in, int* out) { striped_to_blocked<int, 128, 8, false>(in, out); }
extern "C" __global__ void exchange_int_8_sliced(const int* in, int* out) { striped_to_blocked<int, 128, 8, true>(in, out); }
extern "C" __global__ void exchange_double_4(const double* in, double* out) { striped_to_blocked<double, 128, 4, false>(in, out); }
extern "C" __global__ void exchange_short_8(const short* in, short* out) { striped_to_blocked<short, 256, 8, false>(in, out); }
extern "C" __global__ void exchange_char_16(const char* in, char* out) { striped_to_blocked<char, 256, 16, false>(in, out); }

extern "C" __global__ void warp_striped(const int* in, int* out) {
    using Exchange = cub::BlockExchange<int, 128, 5>;
    __shared__ Exchange::TempStorage storage;
    int items[5];
    cub::LoadDirectWarpStriped(threadIdx.x, in + blockIdx.x * 640, items);
    Exchange(storage).WarpStripedToBlocked(items, items);
    __syncthreads();
    for (int i = 0; i < 5; i++) items[i] ^= items[4];
    Exchange(storage).BlockedToWarpStriped(items, items);
    cub::StoreDirectWarpStriped(threadIdx.x, out + blockIdx.x * 640, items);
}

extern "C" __global__ void scatter(const int* in, int* out, int stride) {
    using Exchange = cub::BlockExchange<int, 128, 4>;
    __shared__ Exchange::TempStorage storage;
    int items[4], ranks[4];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 512, items);
    for (int i = 0; i < 4; i++) ranks[i] = (threadIdx.x * 4 + i) * stride % 512;
    Exchange(storage).ScatterToStriped(items, items, ranks);
    cub::StoreDirectStriped<128>(threadIdx.x, out + blockIdx.x * 512, items);
}

extern "C" __global__ void warp_exchange(const int* in, int* out) {
    using Exchange = cub::WarpExchange<int, 4, 16>;
    __shared__ Exchange::TempStorage storage[8];
    int items[4];
    int group = threadIdx.x / 16, lane = threadIdx.x % 16;
    for (int i = 0; i < 4; i++) items[i] = in[group * 64 + i * 16 + lane];
    Exchange(storage[group]).StripedToBlocked(items, items);
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = items[i];
}

template <typename T, cub::BlockLoadAlgorithm Load, cub::BlockStoreAlgorithm Store>
__device__ void copy_through(const T* in, T* out, int valid) {
    using BlockLoad = cub::BlockLoad<T, 128, 6, Load>;
    using BlockStore = cub::BlockStore<T, 128, 6, Store>;
    __shared__ union { typename BlockLoad::TempStorage load; typename BlockStore::TempStorage store; } storage;
    T items[6];
    BlockLoad(storage.load).Load(in, items, valid, T(0));
    __syncthreads();
    for (int i = 1; i < 6; i++) items[i] += items[i - 1];
    BlockStore(storage.store).Store(out, items, valid);
}

extern "C" __global__ void load_transpose(const float* in, float* out, int valid) { copy_through<float, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(in, out, valid); }
extern "C" __global__ void load_warp_transpose(const float* in, float* out, int valid) { copy_through<float, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(in, out, valid); }
extern "C" __global__ void load_sliced(const double* in, double* out, int valid) { copy_through<double, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(in, out, valid); }

extern "C" __global__ void discontinuity(const int* in, int* out) {
    using Flags = cub::BlockDiscontinuity<int, 128>;
    __shared__ Flags::TempStorage storage;
    int items[4], heads[4], tails[4];
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    Flags(storage).FlagHeadsAndTails(heads, tails, items, [] (int a, int b) { return a != b; });
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = heads[i] * 2 + tails[i];
}

extern "C" __global__ void adjacent_difference(const int* in, int* out) {
    using Difference = cub::BlockAdjacentDifference<int, 128>;
    __shared__ Difference::TempStorage storage;
    int items[3], result[3];
    cub::LoadDirectBlocked(threadIdx.x, in, items);
    Difference(storage).SubtractLeft(items, result, [] (int a, int b) { return a - b; });
    cub::StoreDirectBlocked(threadIdx.x, out, result);
}

extern "C" __global__ void shuffle(const int* in, int* out, int distance) {
    using Shuffle = cub::BlockShuffle<int, 128>;
    __shared__ Shuffle::TempStorage storage;
    int item = in[threadIdx.x], moved = 0, rotated = 0;
    Shuffle(storage).Offset(item, moved, distance);
    __syncthreads();
    Shuffle(storage).Rotate(item, rotated, 5);
    out[threadIdx.x] = moved + rotated;
}
