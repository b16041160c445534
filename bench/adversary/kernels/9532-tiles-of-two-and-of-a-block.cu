// launch 1 128 n=1
// launch 1 64 n=2
// launch 2 96 n=3
// Tiles of two and of 64 threads (which synchronise through shared memory), reductions of both, tiles of the odd tiles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9532(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ cg::block_tile_memory<256> room;
    auto block = cg::this_thread_block(room);
    __syncthreads();
    unsigned v = (src[t * 2] + n) & 31;
    auto two = cg::tiled_partition<2>(block);
    unsigned top = cg::reduce(two, v, cg::greater<unsigned>());
    acc += s[((top + two.meta_group_rank()) * 2) & 1023];
    if (T == 128 || T == 64) {
        auto wide = cg::tiled_partition<64>(block);
        unsigned sum = cg::reduce(wide, v, cg::plus<unsigned>());
        acc += s[(wide.thread_rank() * (sum & 7)) & 1023];
        unsigned got = wide.shfl(v, 33);
        if (wide.any(v == 1)) s[(wide.thread_rank() * 2 + got) & 1023] = sum;
        wide.sync();
    }
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    if (eight.meta_group_rank() & 1) {
        unsigned before = cg::exclusive_scan(eight, v & 3);
        s[(before * 16 + eight.thread_rank()) & 1023] = v;
        if (eight.all(v > 2)) acc += s[(l * 4) & 1023];
    }
    warp.sync();
    acc += s[(warp.match_any(v & 3) * 2 + l) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
