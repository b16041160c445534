// launch 1 32 n=4
// launch 1 64 n=5
// launch 2 45 n=7
// A pipeline of three stages of __pipeline_memcpy_async, 16 and 4 bytes wide: data copied one stage ago decides where the next goes.
#include <cuda_pipeline.h>
extern "C" __global__ void k9131(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned stage[3][64 * 4];
    __shared__ unsigned narrow[3][80], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, skew = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 240; k += size) (&narrow[0][0])[k] = k;
    __syncthreads();
    auto fetch = [&](unsigned tile, unsigned slot) {
        if (tile < n) {
            unsigned at = (t + tile) % size;
            __pipeline_memcpy_async(&stage[slot][at * 4], src + ((tile * 200 + at * 4) & 2044), 16, tile == 3 ? 8 : 0);
            if ((t ^ tile) & 1) __pipeline_memcpy_async(&narrow[slot][t + skew], src + ((tile * 64 + t * 3) & 2047), 4);
        }
        __pipeline_commit();
    };
    fetch(0, 0);
    fetch(1, 1);
    for (unsigned tile = 0; tile < n; tile++) {
        unsigned slot = tile % 3;
        __pipeline_wait_prior(1);
        __syncthreads();
        unsigned first = stage[slot][0];
        skew = first & 7;
        uint4 v = *(uint4*)&stage[slot][((t * 3 + tile) % size) * 4];
        acc += s[(v.x + v.w) & 1023];
        acc += s[(v.y * (tile + 1)) & 1023];
        acc += s[(narrow[slot][t] * 4 + stage[slot][t * 4 + 2]) & 1023];
        s[(first * 8 + t * (v.z & 3)) & 1023] = acc;
        fetch(tile + 2, (tile + 2) % 3);
        if (first & 1) s[(t * 5) & 1023] = tile;
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    acc += s[(narrow[(n - 1) % 3][t + skew] * 2) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
