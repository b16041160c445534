// launch 4x2 32 n=3 cluster=2x2
// launch 2x3x2 64 n=1 cluster=1x3x2
// Ranks and block indices in clusters of two and three dimensions: rows exchange, columns add, the whole waits.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9789(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[64];
    auto c = cg::this_cluster();
    dim3 at = c.block_index(), of = c.dim_blocks();
    box[t] = t * (at.x + 1) + at.y * 3 + at.z;
    acc += s[(l * (at.x + of.x * at.y)) & 1023] + s[(l * c.block_rank() + blockIdx.x) & 1023];
    c.sync();
    unsigned mate = (at.x + 1) % of.x + of.x * (at.y + of.y * at.z), below = at.x + of.x * ((at.y + n) % of.y + of.y * at.z);
    unsigned v = c.map_shared_rank(box, mate)[(t * 3) % T], u = c.map_shared_rank(box, below)[t];
    acc += s[(v * 4) & 1023] + s[(u * l) & 1023];
    if (at.y == 1) acc += s[(t * 2) & 1023];
    c.sync();
    const unsigned* far = c.map_shared_rank(s, c.num_blocks() - 1 - c.block_rank());
    acc += far[(l * 8) & 1023] + far[(l * of.y) & 1023];
    c.sync();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
