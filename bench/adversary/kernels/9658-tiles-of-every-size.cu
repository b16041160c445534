// launch 1 96 n=3
// launch 1 40 n=5
// Tiles of 1 to 32 lanes, their ranks, shuffles, votes, reductions and scans; a partial last warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <int N> __device__ unsigned one(unsigned* s, unsigned t, unsigned n) {
    auto g = cg::tiled_partition<N>(cg::this_thread_block()); unsigned a = s[(g.shfl(t, n % N) * N) & 1023];
    if (t / N % 2) a += s[g.thread_rank() * N + g.meta_group_rank()]; if (g.any(t % 5 == n)) a += s[t * 2]; a += s[g.shfl_xor(t, N / 2) * 3]; a += s[g.shfl_down(t, 1) * 4]; return a; }
extern "C" __global__ void k9658(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; auto b = cg::this_thread_block(); for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i; b.sync();
    if (t < blockDim.x / 32 * 32) { acc += one<1>(s, t, n); acc += one<2>(s, t, n); acc += one<4>(s, t, n); acc += one<8>(s, t, n); acc += one<16>(s, t, n); acc += one<32>(s, t, n);
        auto w = cg::tiled_partition<16>(b); acc += s[cg::reduce(w, t, cg::plus<unsigned>()) & 1023]; acc += s[cg::exclusive_scan(w, t & 3u, cg::plus<unsigned>()) * 5]; acc += s[cg::inclusive_scan(w, t & 1u) * 32]; }
    if (t % 3 == 0) { auto c = cg::coalesced_threads(); acc += s[c.thread_rank() * 8]; acc += s[c.shfl(t, 0) + t]; acc += s[c.size() * c.thread_rank() & 1023]; auto l = cg::labeled_partition(c, t & 1); acc += s[l.thread_rank() * 16 + l.size()]; }
    out[t] = acc;
}
