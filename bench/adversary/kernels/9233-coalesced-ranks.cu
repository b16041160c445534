// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 40 n=3
// coalesced_threads in divergent code: ranks, sizes, shuffles and votes of the group are addresses; groups outlive the branch's inner ifs.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9233(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 5 + 1) % 11; }
    __syncthreads();
    if ((l + n) % 3 != 0) {
        auto g = cg::coalesced_threads();
        unsigned r = g.thread_rank(), size = g.size();
        acc += s[(r * 4) & 1023];
        s[(r * size) & 1023] = l;
        unsigned v = g.shfl(q[l], size - 1 - r);
        if (g.any(v == 3)) acc += s[(l * v) & 1023];
        unsigned up = g.shfl_up(r * 3, 2), down = g.shfl_down(l, 1);
        g.sync();
        s[(up * 2 + down * 32) & 1023] = v;
        if (r & 1) { auto h = cg::coalesced_threads(); acc += s[(h.thread_rank() * 8 + h.size()) & 1023]; h.sync(); }
        g.sync();
        acc += s[((size - r) * 16) & 1023];
        unsigned some = g.ballot(q[l] > 5);
        s[(__popc(some & ((1u << r) - 1)) * 2) & 1023] = some;
    } else acc += s[(l * 3) & 1023];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    for (unsigned i = 0; i < n; i++) {
        unsigned v = tile.shfl_xor(q[(l + i) & 1023], 1 << (i % 3));
        if (tile.all(v < 9)) acc += s[(tile.thread_rank() * 32 + i) & 1023]; else s[(l * (v & 3)) & 1023] = i;
    }
    s[(tile.meta_group_rank() * 33 + tile.thread_rank() * 4) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
