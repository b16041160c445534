// launch 1 48 n=3
// launch 2 48 n=6
// cub::BlockHistogram of an odd number of bins, by atomics and by sorting; BlockDiscontinuity; BlockRunLengthDecode in windows.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_run_length_decode.cuh>
extern "C" __global__ void k9140(unsigned* out, const unsigned* src, unsigned n, float f) {
    using Atomics = cub::BlockHistogram<unsigned char, 48, 4, 37, cub::BLOCK_HISTO_ATOMIC>;
    using Sorted = cub::BlockHistogram<unsigned char, 48, 3, 37, cub::BLOCK_HISTO_SORT>;
    using Heads = cub::BlockDiscontinuity<unsigned, 48>;
    using Runs = cub::BlockRunLengthDecode<unsigned, 48, 2, 5>;
    using Differences = cub::BlockAdjacentDifference<unsigned, 48>;
    __shared__ typename Atomics::TempStorage atomics;
    __shared__ typename Sorted::TempStorage sorted;
    __shared__ union { typename Heads::TempStorage heads; typename Differences::TempStorage differences; } temp;
    __shared__ typename Runs::TempStorage decode;
    __shared__ unsigned bins[2][37], s[1024];
    unsigned t = threadIdx.x, acc = 0;
    unsigned char four[4], three[3];
    for (unsigned k = t; k < 1024; k += 48) s[k] = k;
    for (unsigned k = 0; k < 4; k++) four[k] = (unsigned char)(src[t * n + k * 3] % 37);
    for (unsigned k = 0; k < 3; k++) three[k] = (unsigned char)((t * t + k * n) % 37);
    Atomics(atomics).Histogram(four, bins[0]);
    Sorted(sorted).Histogram(three, bins[1]);
    __syncthreads();
    acc += s[(bins[0][t % 37] * 32 + t) & 1023] + s[(bins[1][(t * 7) % 37] * t) & 1023];
    unsigned v[3], w[3], heads[3];
    for (unsigned k = 0; k < 3; k++) v[k] = (t * 3 + k) / (n + 1);
    Heads(temp.heads).FlagHeads(heads, v, [](unsigned a, unsigned b) { return a != b; });
    if (heads[1]) s[(v[1] * 8) & 1023] = t;
    __syncthreads();
    Differences(temp.differences).SubtractLeft(v, w, [](unsigned a, unsigned b) { return a - b; });
    acc += s[(w[0] * 64 + w[2] * 32 + heads[0] * t) & 1023];
    unsigned runs[2] = {t * 2, t * 2 + 1}, lengths[2] = {1 + (t % n), 1 + (heads[2] ^ 1)}, total = 0, item[5];
    __syncthreads();
    Runs decoder(decode, runs, lengths, total);
    for (unsigned done = 0; done < total; done += 48 * 5) {
        decoder.RunLengthDecode(item, done);
        for (unsigned k = 0; k < 5; k++) if (done + t * 5 + k < total) acc += s[(item[k] * 4 + k) & 1023];
    }
    out[(blockIdx.x * 48 + t) & 2047] = acc;
}
