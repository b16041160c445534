// launch 2 64 n=1 cluster=2
// launch 4 96 n=2 cluster=2
// Work between the arrival at a cluster's barrier and the wait; relaxed arrivals; a block ends while others still work on their own.
#include <cooperative_groups.h>
extern "C" __global__ void k9530(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[96];
    auto cluster = cooperative_groups::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    box[t] = (l * (rank + 2)) & 31;
    for (unsigned k = 0; k < n + 1; k++) {
        auto token = cluster.barrier_arrive();
        acc += s[(l * (k + 1)) & 1023];
        cluster.barrier_wait(static_cast<decltype(token)&&>(token));
        unsigned a = cluster.map_shared_rank(box, (rank + k) % size)[(t + 1) % T];
        acc += s[(a * 2) & 1023];
        cluster.sync();
        box[t] = (box[t] + 1 + rank) & 31;
        __syncthreads();
        acc += s[(box[(t * 5) % T] * 4) & 1023];
        cluster.sync();
    }
    if (rank & 1) { s[(l * 6) & 1023] = acc; } else { if (box[t] & 1) acc += s[(l * 16) & 1023]; __syncthreads(); acc += s[(l * 3) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
