// launch 3 128 n=5
// launch 2 26x4 n=9
// launch 2 8x6x4 n=14
// launch 4 40 n=3
// Cooperative groups of every size in blocks with ragged warps: tiles of 4, 8 (dynamic), 16 and 64, coalesced, labelled and
// binary partitions; their ranks, sums and scans (of 12-byte structs, doubles, and of counters in shared memory) are the addresses.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/span>
namespace cg = cooperative_groups;

struct Affine { unsigned mul; short tag, level; unsigned add; };                  // 12 bytes, x -> mul * x + add
struct alignas(16) Cell { unsigned next; short lo, hi; double weight; };          // 16 bytes

struct Compose {
    __device__ Affine operator()(const Affine& a, const Affine& b) const {
        return {a.mul * b.mul, short(a.tag + b.tag), short(a.level > b.level ? a.level : b.level), a.add * b.mul + b.add};
    }
};

__device__ cuda::std::optional<unsigned> mine(cuda::std::span<const unsigned short> list, unsigned i, unsigned size) {
    if (i < size) return list[i];
    return cuda::std::nullopt;
}

extern "C" __global__ void k9897(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ cg::block_tile_memory<256> scratch;
    __shared__ unsigned table[1024], counters[8], sizes[8][5];
    __shared__ unsigned short order[64 * 12], lists[8][2][40];
    __shared__ Affine maps[200];
    __shared__ Cell cells[200];
    __shared__ __align__(16) unsigned copied[256];
    __shared__ signed char bytes[1024];
    auto block = cg::this_thread_block(scratch);
    const unsigned t = block.thread_rank(), T = block.num_threads(), w = t / 32, b = block.group_index().x;
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += T) { table[i] = (i * 5 + n) & 1023; bytes[i] = (signed char)((i * 11 >> 2) & 127); }
    if (t < 8) counters[t] = t * 3 + n;
    if (t < 40) sizes[t / 5][t % 5] = 0;
    cg::memcpy_async(block, copied, src + b * 64, cuda::aligned_size_t<16>(256 * sizeof(unsigned)));
    cg::wait(block);

    // tiles of four: every thread appends 0 to 3 entries to the list of its tile
    auto four = cg::tiled_partition<4>(block);
    const unsigned length = ((t * 7 >> 2) + n) & 3;
    const unsigned begin = cg::exclusive_scan(four, length), total = cg::reduce(four, length, cg::plus<unsigned>());
    for (unsigned j = 0; j < length; j++) order[four.meta_group_rank() * 12 + begin + j] = (unsigned short)(t * 5 + j * 3);
    four.sync();
    cuda::std::span<const unsigned short> own(order + four.meta_group_rank() * 12, 12);
    for (unsigned k = 0; k < n; k++) {
        auto entry = mine(own, k ^ four.thread_rank(), total);
        if (entry.has_value()) acc += table[(*entry * (k + 1)) & 1023] + bytes[*entry & 1023];
    }

    // a dynamic tile of eight turns its cells round, a tile of sixteen scans affine maps
    auto eight = cg::tiled_partition(block, 8);
    const unsigned base8 = t - eight.thread_rank(), turned = base8 + ((eight.thread_rank() * 3 + n) & 7);
    cells[turned] = {t * 9 + n, short(t), short(-int(t)), double(t) * 0.5};
    eight.sync();
    acc += table[(cells[t ^ 1].next * 2) & 1023] + (unsigned)cells[base8 + (n & 7)].weight + cells[t ^ 5].lo * cells[t ^ 3].hi;
    if (T % 16 == 0) {
        auto sixteen = cg::tiled_partition<16>(block);
        Affine map = cg::inclusive_scan(sixteen, Affine{2 * (t % 3) + 1, short(t), short(t * 7 % 5), n + t}, Compose());
        maps[t] = map;
        sixteen.sync();
        Affine last = maps[sixteen.meta_group_rank() * 16 + (map.add & 15)];
        double sum = cg::reduce(sixteen, double(t % 6) * 0.25, cg::plus<double>());
        acc += table[(last.mul + unsigned(sum * 4) * sixteen.thread_rank()) & 1023] + last.tag + last.level;
    }
    block.sync();
    if (T % 64 == 0) {                                        // two warps make a tile; its scratch is shared memory too
        auto wide = cg::tiled_partition<64>(block);
        int sum = cg::reduce(wide, int(t * 3 % 11), cg::plus<int>());
        unsigned before = cg::exclusive_scan(wide, t & 3, cg::plus<unsigned>());
        acc += table[(before * 8 + sum) & 1023];
        block.sync();
    }

    // whoever is there: labels sort the lanes of a warp, ragged or not
    auto here = cg::coalesced_threads();
    const unsigned label = (t * t + b) % 5;
    auto same = cg::labeled_partition(here, label);
    if (same.thread_rank() == 0) sizes[w][label] = same.size();
    here.sync();
    unsigned place = same.thread_rank();
    for (unsigned q = 0; q < label; q++) place += sizes[w][q];
    lists[w][0][place] = (unsigned short)(t + label * 32);
    here.sync();
    const unsigned sorted = lists[w][0][here.thread_rank()];
    acc += table[(sorted * 4) & 1023];

    // halves of the warp by a computed bit, and a counter in shared memory that one tile moves on
    auto half = cg::binary_partition(here, bool(__popc(sorted) & 1));
    const unsigned rank = cg::inclusive_scan(half, 1u + (t & 1));
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> counter(counters[w]);
    const unsigned ticket = cg::exclusive_scan_update(here, counter, 1u + (sorted & 2), cg::plus<unsigned>());
    lists[w][1][half.size() > 16 ? here.thread_rank() : here.size() - 1 - here.thread_rank()] = (unsigned short)ticket;
    here.sync();
    acc += table[(rank * 32 + half.thread_rank()) & 1023] + table[(lists[w][1][(rank * 3) % here.size()] * 8) & 1023];

    // words of src decide who goes in, ranks decide where
    block.sync();
    if (copied[t] & 1) {
        auto in = cg::coalesced_threads();
        cells[w * 32 + in.thread_rank()].next = t * 4;
        in.sync();
        acc += table[cells[w * 32 + (in.thread_rank() ^ 1) % in.size()].next & 1023];
        acc += in.shfl(acc, 0) + bytes[(in.size() * in.thread_rank()) & 1023];
    }
    block.sync();
    cuda::std::array<unsigned short, 3> picks = {lists[w][0][0], lists[w][1][0], (unsigned short)(counters[w] & 255)};
    for (unsigned k = 0; k < 3; k++) acc += table[(picks[(k + n) % 3] * (t & 31) + copied[(t + k) & 255]) & 1023];
    out[b * T + t] = acc;
}
