// Block and warp algorithms of CUB; -D picks the element type, block size and items.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>

#ifndef TYPE
#define TYPE int
#define THREADS 128
#define ITEMS 4
#endif

struct Less { template <class T> __device__ bool operator()(const T& a, const T& b) const { return a < b; } };

extern "C" __global__ void __launch_bounds__(THREADS) radix_sort(TYPE* data) {
    using Load = cub::BlockLoad<TYPE, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<TYPE, THREADS, ITEMS>;
    using Store = cub::BlockStore<TYPE, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; typename Store::TempStorage store; } temp;
    TYPE items[ITEMS];
    Load(temp.load).Load(data, items);
    __syncthreads();
    Sort(temp.sort).Sort(items);
    __syncthreads();
    Store(temp.store).Store(data, items);
}
extern "C" __global__ void __launch_bounds__(THREADS) merge_sort(TYPE* data) {
    using Sort = cub::BlockMergeSort<TYPE, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage temp;
    TYPE items[ITEMS];
    for (int i = 0; i < ITEMS; i++) items[i] = data[threadIdx.x * ITEMS + i];
    Sort(temp).Sort(items, Less());
    for (int i = 0; i < ITEMS; i++) data[threadIdx.x * ITEMS + i] = items[i];
}
extern "C" __global__ void __launch_bounds__(THREADS) scan_and_reduce(TYPE* data) {
    using Scan = cub::BlockScan<TYPE, THREADS, cub::BLOCK_SCAN_RAKING>;
    using Reduce = cub::BlockReduce<TYPE, THREADS>;
    using Exchange = cub::BlockExchange<TYPE, THREADS, ITEMS>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Reduce::TempStorage reduce;
    __shared__ typename Exchange::TempStorage exchange;
    TYPE items[ITEMS], total;
    for (int i = 0; i < ITEMS; i++) items[i] = data[i * THREADS + threadIdx.x];
    Exchange(exchange).StripedToBlocked(items, items);
    Scan(scan).ExclusiveSum(items, items, total);
    total += Reduce(reduce).Sum(items);
    if (threadIdx.x == 0) data[0] = total;
    for (int i = 0; i < ITEMS; i++) data[threadIdx.x * ITEMS + i] = items[i];
}
extern "C" __global__ void __launch_bounds__(THREADS) histogram(unsigned char* samples, unsigned* out) {
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ typename Histogram::TempStorage temp;
    __shared__ unsigned bins[256];
    unsigned char items[ITEMS];
    for (int i = 0; i < ITEMS; i++) items[i] = samples[threadIdx.x * ITEMS + i];
    Histogram(temp).Histogram(items, bins);
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
