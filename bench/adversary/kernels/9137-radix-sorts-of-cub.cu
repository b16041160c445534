// launch 1 64 n=1
// launch 2 64 n=4
// cub::BlockRadixSort of five items and of pairs, on some bits from n, descending to striped; sorted values are addresses.
#include <cub/block/block_radix_sort.cuh>
extern "C" __global__ void k9137(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Keys = cub::BlockRadixSort<unsigned, 64, 5, cub::NullType, 3>;
    using Pairs = cub::BlockRadixSort<short, 64, 3, unsigned char, 5, false>;
    __shared__ union { typename Keys::TempStorage keys; typename Pairs::TempStorage pairs; } temp;
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0, key[5];
    for (unsigned k = t; k < 1024; k += 64) s[k] = k;
    for (unsigned k = 0; k < 5; k++) key[k] = (src[t * 5 + k] * 2654435761u >> 9) & 1023;
    __syncthreads();
    Keys(temp.keys).Sort(key, n, n + 6);
    for (unsigned k = 0; k < 5; k++) acc += s[(key[k] * (k + 1)) & 1023];
    __syncthreads();
    Keys(temp.keys).SortDescendingBlockedToStriped(key, 2, 10);
    for (unsigned k = 0; k < 5; k += 2) acc += s[(key[k] + k) & 1023];
    __syncthreads();
    short small[3];
    unsigned char value[3];
    for (unsigned k = 0; k < 3; k++) { small[k] = (short)((int)(key[k] & 255) - 100); value[k] = (unsigned char)(t * 3 + k); }
    Pairs(temp.pairs).Sort(small, value);
    s[(value[0] * 32u + value[1]) & 1023] = t;
    acc += s[(unsigned)(small[1] * 2 + 300) & 1023];
    __syncthreads();
    acc += s[(value[2] * t) & 1023];
    out[(blockIdx.x * 64 + t) & 2047] = acc;
}
