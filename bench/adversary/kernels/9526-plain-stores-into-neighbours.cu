// launch 2 32 n=1 cluster=2
// launch 4 64 n=3 cluster=4
// launch 4 64 n=2 cluster=2
// Pointers into other blocks' memory by mapa, by cooperative groups and by an offset in registers; plain stores change what the block reads of its own.
#include <cooperative_groups.h>
extern "C" __global__ void k9526(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned mine[64], yours[64];
    if (t < 64) { mine[t] = t & 3; yours[t] = t & 7; }
    __syncthreads();
    auto cluster = cooperative_groups::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), to = (rank + 1) % size;
    cluster.sync();
    unsigned* there = cluster.map_shared_rank(mine, to);
    there[t & 63] = (l * 3 + rank) & 31;
    unsigned* self = cluster.map_shared_rank(yours, rank);
    self[t & 63] = (l * 5 + n) & 31;
    cluster.sync();
    unsigned a = mine[l], b = yours[l];
    acc += s[(a * 4) & 1023] + s[(b * 2) & 1023];
    if (a & 1) s[(l * 2) & 1023] = a; else acc += s[(l * 6) & 1023];
    if (b & 1) s[(l * 8) & 1023] = b;
    unsigned* maybe = cluster.map_shared_rank(yours, (rank + (l & 1)) % size);
    atomicAdd(maybe + 63, 1);
    cluster.sync();
    acc += s[(l * (yours[63] & 7)) & 1023];
    cluster.sync();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
