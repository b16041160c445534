// launch 4 64 n=3 cluster=2
// launch 4 32 n=5 cluster=4
// launch 6 48 n=2 cluster=3
// Distributed shared memory by cooperative groups: counts and indices from the other blocks decide accesses to the block's own memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9240(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 3 + blockIdx.x) & 63; }
    __syncthreads();
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ unsigned count[32]; __shared__ unsigned part;
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    for (unsigned k = t; k < 32; k += nt) count[k] = 0;
    __syncthreads();
    atomicAdd(&count[(l * (rank + 1)) & 15], 1u);
    if (t == 0) part = rank * 5 + n;
    cluster.sync();
    const unsigned* far = cluster.map_shared_rank(q, (rank + 1) % size);
    unsigned k = far[(l * 2) & 1023];
    acc += s[(k * 4) & 1023];
    unsigned sum = 0;
    for (unsigned r = 0; r < size; r++) sum += *cluster.map_shared_rank(&part, r) * (r + 1);
    s[(l * sum) & 1023] = sum;
    unsigned* other = cluster.map_shared_rank(count, size - 1 - rank);
    if (other[l & 15] > 2) acc += s[(l * other[l & 7]) & 1023]; else s[(l * 8) & 1023] = k;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&count[16 + (l & 7)], (rank + size - 1) % size), rank + 1);
    cluster.sync();
    unsigned got = count[16 + (l & 7)];
    acc += s[(l * (got & 31)) & 1023];
    if (rank == size - 1) { if (got & 1) s[(l * 16) & 1023] = got; } else acc += s[(l * 3 + got) & 1023];
    s[(*cluster.map_shared_rank(&q[l], rank) * 2) & 1023] = acc;
    cluster.sync();
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
