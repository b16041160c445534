// launch 1 64 n=3
// launch 1 96 n=2
// binary_partition, invoke_one, groups of groups, tiles of 64 with shared scratch, and memcpy_async of a group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
extern "C" __global__ void k9751(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(16) unsigned stage[96];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto part = cg::binary_partition(warp, l % n == 0);
    acc += s[(part.thread_rank() * part.size()) & 1023];
    if (part.size() > 12) { acc += s[(part.thread_rank() * 16) & 1023]; part.sync(); acc += s[part.shfl(l, 1) * 8]; }
    auto quad = cg::tiled_partition<4>(warp);
    auto odd = cg::binary_partition(quad, (l + w) & 1);
    acc += s[(odd.size() * l + quad.meta_group_rank()) & 1023];
    cg::memcpy_async(block, stage, src + n * 4, cuda::aligned_size_t<16>(T * 4));
    cg::wait(block);
    acc += s[stage[(t * 3) % T]] + stage[t ^ 1];
    unsigned m = cg::reduce(part, l * 3, cg::greater<unsigned>());
    acc += s[(m * 8 + l) & 1023];
    block.sync();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
