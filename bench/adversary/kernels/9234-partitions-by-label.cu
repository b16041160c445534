// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 32 n=4
// labeled_partition, binary_partition and nested tiles: each part has another size, and reduces and scans for its addresses.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k9234(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 11 + (k >> 2)) & 15; }
    __syncthreads();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto all = cg::coalesced_threads();
    auto part = cg::labeled_partition(all, (int)(q[l] % n));
    unsigned r = part.thread_rank();
    acc += s[(r * part.size()) & 1023];
    unsigned sum = cg::reduce(part, q[l + 32], cg::plus<unsigned>());
    s[(r * (sum & 31)) & 1023] = sum;
    unsigned before = cg::exclusive_scan(part, q[l] & 7, cg::plus<unsigned>());
    part.sync();
    acc += s[(before * 4 + r) & 1023];
    auto odd = cg::binary_partition(all, (l ^ n) & 4);
    unsigned top = cg::reduce(odd, l * 3, cg::greater<unsigned>());
    if (odd.thread_rank() < 5) s[(odd.thread_rank() * top) & 1023] = top; else acc += s[(odd.thread_rank() * 8) & 1023];
    warp.sync();
    auto quad = cg::tiled_partition<4>(warp);
    unsigned peak = cg::reduce(quad, q[l], cg::greater<unsigned>());
    for (unsigned i = 0; i < (peak & 3); i++) { acc += s[(l * 2 + i * peak) & 1023]; quad.sync(); }
    warp.sync();
    unsigned total = cg::inclusive_scan(warp, peak & 1, cg::plus<unsigned>());
    s[(total * 16) & 1023] = acc;
    if (warp.thread_rank() == warp.num_threads() - 1) acc += s[total & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
