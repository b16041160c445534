// launch 1 64 n=2
// launch 1 96 n=3
// launch 2 32 n=4
// memcpy_async of a group and of a tile, waits for all but one stage, and barrier_arrive and barrier_wait of the block.
#include <cuda/barrier>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9533(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned d[3][256];
    auto block = cg::this_thread_block();
    for (unsigned k = t; k < 768; k += T) (&d[0][0])[k] = 3;
    __syncthreads();
    cg::memcpy_async(block, d[0], src, cuda::aligned_size_t<16>(1024));
    for (unsigned i = 0; i < n; i++) {
        cg::memcpy_async(block, d[(i + 1) % 3], src + (i + 1) * 64, cuda::aligned_size_t<16>(1024));
        cg::wait_prior<1>(block);
        unsigned a = d[i % 3][t];
        acc += s[(a * 2) & 1023];
        if (a & 8) s[(l * 4 + i) & 1023] = a;
        block.sync();
    }
    cg::wait(block);
    d[2][t] = (t * 3) & 63;
    auto token = block.barrier_arrive();
    acc += s[(l * 5) & 1023];
    block.barrier_wait(static_cast<decltype(token)&&>(token));
    unsigned b = d[2][(t + 1) % T];
    acc += s[(b * 8) & 1023];
    for (unsigned k = 0; k < (d[n % 2][1] & 3); k++) acc += s[(l * 3 + k) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
