// launch 1 19x3 n=2
// launch 3 19x3 n=5
// cub::BlockScan of an odd block in two dimensions, raking and by warps, with a running prefix; then BlockReduce; offsets scatter.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
struct Running { unsigned total; __device__ unsigned operator()(unsigned block) { unsigned old = total; total += block; return old; } };
extern "C" __global__ void k9136(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Raking = cub::BlockScan<unsigned, 19, cub::BLOCK_SCAN_RAKING, 3>;
    using Warps = cub::BlockScan<unsigned, 19, cub::BLOCK_SCAN_WARP_SCANS, 3>;
    using Memo = cub::BlockScan<unsigned, 19, cub::BLOCK_SCAN_RAKING_MEMOIZE, 3>;
    using Reduce = cub::BlockReduce<unsigned, 19, cub::BLOCK_REDUCE_RAKING, 3>;
    __shared__ union { typename Raking::TempStorage raking; typename Warps::TempStorage warps; typename Memo::TempStorage memo; typename Reduce::TempStorage reduce; } temp;
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.y * 19 + threadIdx.x, acc = 0, item[3], sum, total;
    for (unsigned k = t; k < 1024; k += 57) s[k] = k;
    for (unsigned k = 0; k < 3; k++) item[k] = (src[t * 3 + k] + blockIdx.x) % n;
    Running running{7};
    __syncthreads();
    Raking(temp.raking).ExclusiveSum(item, item, total);
    for (unsigned k = 0; k < 3; k++) s[(item[k] * 3 + k) & 1023] = t;
    __syncthreads();
    acc += s[(t * total) & 1023];
    for (unsigned round = 0; round < 2; round++) {
        __syncthreads();
        Warps(temp.warps).ExclusiveSum((item[round] & 3) + 1, sum, running);
        acc += s[(sum * 2) & 1023];
    }
    __syncthreads();
    Memo(temp.memo).InclusiveScan(t % 5 * (t % n), sum, [](unsigned a, unsigned b) { return a > b ? a : b; });
    acc += s[(sum * t) & 1023];
    __syncthreads();
    unsigned least = Reduce(temp.reduce).Reduce(sum * 16 + item[2] % 9, [](unsigned a, unsigned b) { return a * 3 + b; }, (int)(40 + n));
    if (t == 0) s[1023] = least & 15;
    __syncthreads();
    acc += s[(t * s[1023]) & 1023];
    out[(blockIdx.x * 57 + t) & 2047] = acc;
}
