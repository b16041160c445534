// launch 1 32 n=1
// launch 1 64 n=3
// launch 2 50 n=2
// Labeled and binary partitions of coalesced groups by data, inside branches that a nap has let diverge; invoke_one, ranks, reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9531(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned v = src[t * n + 3] & 15;
    if (v & 1) { __nanosleep(20); acc += s[(l * 2) & 1023]; }
    auto here = cg::coalesced_threads();
    unsigned rank = here.thread_rank(), size = here.size();
    here.sync();
    auto label = cg::labeled_partition(here, v >> 2);
    auto half = cg::binary_partition(label, (v & 2) != 0);
    unsigned sum = cg::reduce(half, v, cg::plus<unsigned>());
    here.sync();
    __syncwarp(__activemask());
    acc += s[(rank * size) & 1023];
    acc += s[(label.meta_group_rank() * 32 + label.thread_rank()) & 1023];
    s[(sum * half.thread_rank()) & 1023] = acc;
    cg::invoke_one(half, [&] { s[(sum * 4) & 1023] = 1; });
    unsigned all = cg::invoke_one_broadcast(label, [&] { return v + 5; });
    acc += s[(l * (all & 7)) & 1023];
    __syncthreads();
    acc += s[(l + (rank & 1) * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
