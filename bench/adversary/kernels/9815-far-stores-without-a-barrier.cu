// launch 2 64 n=3 cluster=2
// launch 4 32 n=2 cluster=4
// A block of a cluster stores into another's memory while that reads it, without and then with the cluster's barrier.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9815(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[64];
    auto c = cg::this_cluster();
    unsigned r = c.block_rank(), R = c.num_blocks();
    box[t] = l;
    c.sync();
    unsigned* far = c.map_shared_rank(box, (r + 1) % R);
    if (r == 0) __nanosleep(3000);
    far[t ^ 1] = (l * 5 + n) & 31;
    unsigned v = *(volatile unsigned*)&box[t];
    acc += s[(v * 2) & 1023];
    __syncthreads();
    acc += s[(*(volatile unsigned*)&box[t ^ 1] * 4) & 1023];
    c.sync();
    acc += s[(box[t] * 8) & 1023];
    if (r & 1) far[t] = 4;
    c.sync();
    acc += s[(box[t] * l) & 1023];
    c.sync();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
