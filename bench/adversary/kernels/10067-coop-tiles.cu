// launch 2 96 n=40
// launch 3 48 n=21
// launch 1 16x4x2 n=64
// cooperative-groups tiles of 8 and 16 as workers in a persistent loop: tiles of one warp make different numbers of trips; tile shfl, any, ballot and reduce decide the inner loops
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k10067(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ float rows[32][9];
    __shared__ __align__(16) float4 pack[64];
    __shared__ unsigned count[16];
    __shared__ unsigned char tag[512];
    cg::thread_block block = cg::this_thread_block();
    const unsigned t = block.thread_rank(), nt = block.size();
    auto t16 = cg::tiled_partition<16>(block);
    auto t8 = cg::tiled_partition<8>(t16);
    for (unsigned i = t; i < 32 * 9; i += nt) (&rows[0][0])[i] = i * f;
    for (unsigned i = t; i < 64; i += nt) pack[i] = make_float4(i, 1, f, 0);
    for (unsigned i = t; i < 512; i += nt) tag[i] = (unsigned char)src[i];
    if (t < 16) count[t] = 0;
    block.sync();
    unsigned acc = 0;
    const unsigned tiles = nt / 8, tile = t / 8;
    for (unsigned job = blockIdx.x * tiles + tile; job < n; job += gridDim.x * tiles) {
        float x = rows[job & 31][t8.thread_rank()];
        const unsigned trips = t8.shfl((job * 5 + t8.thread_rank()) & 7, job & 7);
        for (unsigned i = 0; i < trips; ++i) x += pack[(job * 2 + i * 8 + t8.thread_rank()) & 63].z;
        if (t8.any(((job + t8.thread_rank()) & 15) == 9)) {
            acc += tag[(job * 8 + t8.thread_rank() * 3) & 511];
            t8.sync();
        }
        if (t8.thread_rank() == (job & 7)) atomicAdd(&count[job & 15], 1u + acc);
        acc += (unsigned)x & 7;
    }
    t16.sync();
    const unsigned part = cg::reduce(t16, (t * 3) & 7u, cg::plus<unsigned>());
    const unsigned votes = t16.ballot((t % 5) < 1 + (t >> 4));
    for (unsigned m = votes, k = 0; m; m &= m - 1, ++k) {
        const unsigned b = __ffs(m) - 1;
        if (t16.thread_rank() >= b) acc += (unsigned)rows[(b + part) & 31][(k + t) % 9];
        if (t16.meta_group_rank() == k) acc += tag[(t * 4 + b) & 511];
    }
    if (t8.meta_group_rank() == 1) pack[t & 63] = make_float4(acc, (float)(acc ^ t), f, 1);
    block.sync();
    out[(blockIdx.x * nt + t) & 4095] = acc + count[t16.thread_rank()] + (unsigned)pack[(t * 3) & 63].x;
}
