// launch 1 32 n=3
// launch 2 64 n=2
// launch 1 59 n=5
// Coalesced groups: filters that compact in order, groups by labels and by predicates within branches, reductions by their ranks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9135(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned kept[2][96], s[1024], sums[2][16];
    unsigned t = threadIdx.x, w = t >> 5, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 192; k += size) (&kept[0][0])[k] = k;
    if (t < 32) (&sums[0][0])[t] = t;
    __syncthreads();
    unsigned v = (src[t * 5] * 3 + t) & 63, filled = 0;
    for (unsigned k = 0; k < 3; k++)
        if ((v + k) % n) {
            auto active = cg::coalesced_threads();
            kept[w][k * 32 + active.thread_rank()] = v;
            filled += active.size();
            acc += s[(active.thread_rank() * active.size()) & 1023];
        }
    __syncwarp(__activemask());
    acc += s[(kept[w][t * 3 % 96] * 4) & 1023];
    if (v & 4) {
        auto active = cg::coalesced_threads();
        auto same = cg::labeled_partition(active, v % 3);
        unsigned sum = cg::reduce(same, v, cg::plus<unsigned>());
        if (same.thread_rank() == 0) sums[w & 1][same.meta_group_rank() & 15] = sum;
        acc += s[(same.thread_rank() * 32 + same.meta_group_rank()) & 1023];
        s[(sum + same.thread_rank()) & 1023] = v;
        auto parts = cg::binary_partition(same, (v >> 3) & 1);
        s[(parts.size() * parts.thread_rank() * 2) & 1023] = sum;
        active.sync();
        acc += s[(sums[w & 1][v % 3] * active.thread_rank()) & 1023];
    } else {
        auto rest = cg::coalesced_threads();
        unsigned next = rest.shfl(v, (rest.thread_rank() + 1) % rest.size());
        s[(next * 16 + rest.thread_rank()) & 1023] = next;
        acc += s[((rest.ballot(next & 8) & 31) * rest.thread_rank()) & 1023];
    }
    __syncthreads();
    acc += s[(filled * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
