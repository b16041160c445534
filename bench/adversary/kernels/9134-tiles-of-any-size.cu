// launch 1 32 n=1
// launch 1 64 n=3
// launch 2 96 n=2
// Cooperative groups: tiles of 4, 8 and 16 lanes, reductions and scans of them, ranks of tiles as rows; tiles of tiles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <unsigned SIZE, class G> __device__ unsigned rows(const G& group, unsigned* s, unsigned v) {
    auto tile = cg::tiled_partition<SIZE>(group);
    unsigned sum = cg::reduce(tile, v, cg::plus<unsigned>());
    unsigned before = cg::exclusive_scan(tile, v, cg::plus<unsigned>());
    unsigned top = cg::reduce(tile, v ^ tile.thread_rank(), cg::greater<unsigned>());
    unsigned acc = s[(tile.meta_group_rank() * 33 + tile.thread_rank() * SIZE) & 1023];
    acc += s[(before + sum * tile.thread_rank()) & 1023];
    if (tile.any(v > top / 2 + 3)) s[(top * 4 + tile.shfl_down(v, 1)) & 1023] = acc;
    tile.sync();
    acc += s[(tile.shfl(v, sum % SIZE) * 8 + tile.shfl_xor(before, SIZE / 2)) & 1023];
    return acc + tile.match_any(v & 3) % 7;
}
extern "C" __global__ void k9134(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    auto block = cg::this_thread_block();
    unsigned t = block.thread_rank(), size = block.size(), acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    block.sync();
    unsigned v = (src[t * n] + t) & 15;
    acc += rows<4>(block, s, v);
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    acc += rows<16>(warp, s, v * 3 & 15);
    block.sync();
    if (warp.meta_group_rank() % 2 == 0) {
        auto half = cg::tiled_partition<16>(warp);
        if (half.meta_group_rank() == (n & 1)) acc += rows<8>(half, s, v ^ 5);
        half.sync();
        s[(half.thread_rank() * (n + 1) * 4) & 1023] = acc;
    }
    block.sync();
    unsigned most = cg::reduce(warp, v, cg::greater<unsigned>()), least = cg::reduce(warp, v, cg::less<unsigned>());
    acc += s[((most - least) * warp.thread_rank()) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
