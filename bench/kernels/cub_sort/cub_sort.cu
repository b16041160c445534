// CUB's block-wide sorts and related collectives: radix, merge, histogram, run-length decoding.

#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/warp/warp_merge_sort.cuh>

template <typename Key, int Threads, int Items>
__device__ void radix(const Key* in, Key* out, int bits) {
    using Sort = cub::BlockRadixSort<Key, Threads, Items>;
    __shared__ typename Sort::TempStorage storage;
    Key keys[Items];
    for (int i = 0; i < Items; i++) keys[i] = in[threadIdx.x * Items + i];
    Sort(storage).SortBlockedToStriped(keys, 0, bits);
    for (int i = 0; i < Items; i++) out[i * Threads + threadIdx.x] = keys[i];
}

extern "C" __global__ void radix_sort(const unsigned* in, unsigned* out, int bits) { radix<unsigned, 128, 4>(in, out, bits); }
extern "C" __global__ void radix_sort_short(const unsigned short* in, unsigned short* out, int bits) { radix<unsigned short, 64, 5>(in, out, bits); }

extern "C" __global__ void radix_sort_pairs(unsigned* keys, float* values) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 2, float>;
    __shared__ Sort::TempStorage storage;
    unsigned key[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    float value[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    Sort(storage).SortDescending(key, value, 0, 8);
    for (int i = 0; i < 2; i++) { keys[threadIdx.x * 2 + i] = key[i]; values[threadIdx.x * 2 + i] = value[i]; }
}

extern "C" __global__ void radix_rank(const unsigned* in, int* out) {
    using Rank = cub::BlockRadixRankMatch<128, 4, false>;
    __shared__ Rank::TempStorage storage;
    unsigned keys[3];
    int ranks[3];
    for (int i = 0; i < 3; i++) keys[i] = in[threadIdx.x / 32 * 96 + i * 32 + threadIdx.x % 32];
    Rank(storage).RankKeys(keys, ranks, cub::BFEDigitExtractor<unsigned>(0, 4));
    for (int i = 0; i < 3; i++) out[threadIdx.x * 3 + i] = ranks[i];
}

struct Less { template <typename T> __device__ bool operator()(const T& a, const T& b) const { return a < b; } };

extern "C" __global__ void merge_sort(const int* in, int* out) {
    using Sort = cub::BlockMergeSort<int, 128, 4>;
    __shared__ Sort::TempStorage storage;
    int keys[4];
    for (int i = 0; i < 4; i++) keys[i] = in[threadIdx.x * 4 + i];
    Sort(storage).Sort(keys, Less());
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void warp_merge_sort(const int* in, int* out) {
    using Sort = cub::WarpMergeSort<int, 3, 16>;
    __shared__ Sort::TempStorage storage[4];
    int keys[3];
    for (int i = 0; i < 3; i++) keys[i] = in[threadIdx.x * 3 + i];
    Sort(storage[threadIdx.x / 16]).Sort(keys, Less());
    for (int i = 0; i < 3; i++) out[threadIdx.x * 3 + i] = keys[i];
}

template <cub::BlockHistogramAlgorithm Algorithm>
__device__ void histogram(const unsigned char* in, unsigned* out) {
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 64, Algorithm>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned bins[64];
    unsigned char samples[4];
    for (int i = 0; i < 4; i++) samples[i] = in[threadIdx.x * 4 + i] % 64;
    Histogram(storage).Histogram(samples, bins);
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void histogram_atomic(const unsigned char* in, unsigned* out) { histogram<cub::BLOCK_HISTO_ATOMIC>(in, out); }
extern "C" __global__ void histogram_sort(const unsigned char* in, unsigned* out) { histogram<cub::BLOCK_HISTO_SORT>(in, out); }

extern "C" __global__ void run_length_decode(const int* values, int* out) {
    using Decode = cub::BlockRunLengthDecode<int, 64, 2, 4>;
    __shared__ Decode::TempStorage storage;
    int value[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    int length[2] = {static_cast<int>(threadIdx.x % 3 + 1), 2};
    int decoded[4];
    unsigned size = 0;
    Decode decode(storage, value, length, size);
    for (unsigned start = 0; start < size; start += 256) {
        decode.RunLengthDecode(decoded, start);
        for (int i = 0; i < 4; i++) out[start + threadIdx.x * 4 + i] = decoded[i];
    }
}
