// launch 1 64 n=2
// launch 2 64 n=7
// cub::WarpMergeSort in logical warps of 16 and 8 with three items and with pairs, BlockMergeSort of a part, own comparisons.
#include <cub/block/block_merge_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
struct Odd { __device__ bool operator()(unsigned a, unsigned b) const { return (a & 1) != (b & 1) ? (a & 1) : a < b; } };
struct Less { __device__ bool operator()(unsigned a, unsigned b) const { return a < b; } };
extern "C" __global__ void k9139(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Sixteen = cub::WarpMergeSort<unsigned, 3, 16>;
    using Eight = cub::WarpMergeSort<unsigned, 2, 8, unsigned short>;
    using Block = cub::BlockMergeSort<unsigned, 64, 3>;
    __shared__ typename Sixteen::TempStorage sixteen[4];
    __shared__ typename Eight::TempStorage eight[8];
    __shared__ typename Block::TempStorage all;
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0, key[3], two[2];
    unsigned short value[2];
    for (unsigned k = t; k < 1024; k += 64) s[k] = k;
    for (unsigned k = 0; k < 3; k++) key[k] = (src[t * 3 + k] * 40503u >> 4) & 511;
    __syncthreads();
    Sixteen(sixteen[t / 16]).Sort(key, Less());
    acc += s[(key[0] * 2) & 1023] + s[(key[2] + t) & 1023];
    for (unsigned k = 0; k < 2; k++) { two[k] = key[k] * n & 63; value[k] = (unsigned short)(t * 2 + k); }
    Eight(eight[t / 8]).StableSort(two, value, Odd());
    s[(value[0] * 8u + value[1]) & 1023] = two[1];
    acc += s[(two[0] * 32) & 1023];
    __syncthreads();
    Block(all).Sort(key, Odd(), 150 + (int)n, 9999u);
    acc += s[(key[1] * n) & 1023];
    __syncthreads();
    if (t * 3 < 150 + n) s[(key[0] * 4) & 1023] = acc;
    out[(blockIdx.x * 64 + t) & 2047] = acc;
}
