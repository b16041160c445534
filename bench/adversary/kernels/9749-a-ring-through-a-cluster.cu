// launch 4 64 n=3 cluster=4
// launch 6 32 n=2 cluster=2
// Blocks of a cluster hand values round a ring by map_shared_rank and add to each other's counters; sums become pitches.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9749(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[64], total;
    auto c = cg::this_cluster();
    unsigned r = c.block_rank(), R = c.num_blocks();
    if (t == 0) total = 0;
    box[t] = t ^ r;
    c.sync();
    for (unsigned k = 1; k <= n; k++) {
        unsigned* other = c.map_shared_rank(box, (r + k) % R);
        unsigned v = other[(t + k) % T];
        if (t % (k + 1) == 0) atomicAdd(c.map_shared_rank(&total, (r + 1) % R), v & 3);
        c.sync();
        box[t] = v;
        acc += s[(v * (r + 1)) & 1023];
        c.sync();
        acc += s[(total * l) & 1023];
        if ((r + k) & 1) acc += s[(t * 4) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
