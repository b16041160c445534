// CUB's block-wide reductions and scans, in every algorithm.

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

template <typename T, int Threads, cub::BlockReduceAlgorithm Algorithm, int Y = 1>
__device__ void reduce(const T* in, T* out, int valid) {
    using Reduce = cub::BlockReduce<T, Threads, Algorithm, Y>;
    __shared__ typename Reduce::TempStorage storage;
    int thread = threadIdx.y * Threads + threadIdx.x;
    T sum = Reduce(storage).Sum(in[blockIdx.x * Threads * Y + thread], valid);
    __syncthreads();
    T largest = Reduce(storage).Reduce(in[thread], [] (T a, T b) { return a < b ? b : a; });
    if (thread == 0) out[blockIdx.x] = sum + largest;
}

extern "C" __global__ void reduce_warps(const float* in, float* out, int valid) { reduce<float, 256, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out, valid); }
extern "C" __global__ void reduce_raking(const float* in, float* out, int valid) { reduce<float, 256, cub::BLOCK_REDUCE_RAKING>(in, out, valid); }
extern "C" __global__ void reduce_commutative(const int* in, int* out, int valid) { reduce<int, 256, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out, valid); }
extern "C" __global__ void reduce_double(const double* in, double* out, int valid) { reduce<double, 160, cub::BLOCK_REDUCE_RAKING>(in, out, valid); }
extern "C" __global__ void reduce_two_rows(const float* in, float* out, int valid) { reduce<float, 48, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 2>(in, out, valid); }
extern "C" __global__ void reduce_odd(const int* in, int* out, int valid) { reduce<int, 100, cub::BLOCK_REDUCE_RAKING>(in, out, valid); }

template <typename T, int Threads, int Items, cub::BlockScanAlgorithm Algorithm>
__device__ void scan(const T* in, T* out) {
    using Scan = cub::BlockScan<T, Threads, Algorithm>;
    __shared__ typename Scan::TempStorage storage;
    T items[Items], total;
    for (int i = 0; i < Items; i++) items[i] = in[threadIdx.x * Items + i];
    Scan(storage).ExclusiveSum(items, items, total);
    __syncthreads();
    Scan(storage).InclusiveScan(items, items, [] (T a, T b) { return a < b ? b : a; });
    for (int i = 0; i < Items; i++) out[threadIdx.x * Items + i] = items[i] + total;
}

extern "C" __global__ void scan_warps(const int* in, int* out) { scan<int, 256, 4, cub::BLOCK_SCAN_WARP_SCANS>(in, out); }
extern "C" __global__ void scan_raking(const int* in, int* out) { scan<int, 256, 4, cub::BLOCK_SCAN_RAKING>(in, out); }
extern "C" __global__ void scan_memoize(const float* in, float* out) { scan<float, 192, 3, cub::BLOCK_SCAN_RAKING_MEMOIZE>(in, out); }
extern "C" __global__ void scan_long(const long long* in, long long* out) { scan<long long, 128, 2, cub::BLOCK_SCAN_RAKING>(in, out); }

struct Pair { int key; float value; };

extern "C" __global__ void reduce_pairs(const Pair* in, Pair* out) {
    using Reduce = cub::BlockReduce<Pair, 128>;
    __shared__ Reduce::TempStorage storage;
    Pair best = Reduce(storage).Reduce(in[threadIdx.x], [] (Pair a, Pair b) { return b.value > a.value ? b : a; });
    if (threadIdx.x == 0) *out = best;
}

extern "C" __global__ void warp_sums(const int* in, int* out) {
    using Reduce = cub::WarpReduce<int, 16>;
    using Scan = cub::WarpScan<int, 13>;             // no power of two: through shared memory
    __shared__ Reduce::TempStorage reduce_storage[8];
    __shared__ Scan::TempStorage scan_storage[8];
    int group = threadIdx.x / 16, sum = Reduce(reduce_storage[group]).Sum(in[threadIdx.x]), prefix = 0;
    if (threadIdx.x < 13 * 8) Scan(scan_storage[threadIdx.x / 13]).InclusiveSum(in[threadIdx.x], prefix);
    out[threadIdx.x] = sum + prefix;
}

struct Running {
    int total;
    __device__ int operator()(int sum) { int before = total; total += sum; return before; }
};

extern "C" __global__ void scan_stream(const int* in, int* out, int n) {
    using Scan = cub::BlockScan<int, 128>;
    __shared__ Scan::TempStorage storage;
    Running running{0};
    for (int start = 0; start < n; start += 128) {
        int item = start + threadIdx.x < n ? in[start + threadIdx.x] : 0;
        Scan(storage).ExclusiveSum(item, item, running);
        __syncthreads();
        if (start + threadIdx.x < n) out[start + threadIdx.x] = item;
    }
}
