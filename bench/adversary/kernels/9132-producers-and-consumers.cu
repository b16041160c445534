// launch 1 64 n=3
// launch 1 96 n=4
// launch 2 128 n=2
// cuda::pipeline: of a thread with two stages; then of the block, with one warp that produces for the others, which consume at strides.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void k9132(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned ring[2][256], own[2][128 * 2];
    __shared__ unsigned s[1024];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    block.sync();
    auto mine = cuda::make_pipeline();
    for (unsigned k = 0; k < n + 1; k++) {
        if (k < n) {
            mine.producer_acquire();
            cuda::memcpy_async(&own[k & 1][t * 2], src + ((t * 2 + k * 100) & 2046), cuda::aligned_size_t<8>(8), mine);
            mine.producer_commit();
        }
        if (k > 0) {
            cuda::pipeline_consumer_wait_prior<0>(mine);
            uint2 v = *(uint2*)&own[(k - 1) & 1][t * 2];
            acc += s[(v.x * 2 + v.y * k) & 1023];
            mine.consumer_release();
        }
    }
    block.sync();
    const auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (t < 32) {
        for (unsigned k = 0; k < n; k++) {
            pipe.producer_acquire();
            for (unsigned c = 0; c < 2; c++)
                cuda::memcpy_async(&ring[k & 1][(c * 32 + (t ^ k)) * 4], src + (((c * 32 + t) * 4 + k * 256) & 2044), cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
            acc += s[(t * (k + 1) * 4) & 1023];
        }
    } else {
        for (unsigned k = 0; k < n; k++) {
            pipe.consumer_wait();
            unsigned v = ring[k & 1][(t * 5 + k) & 255];
            acc += s[(v * (k + 2)) & 1023];
            acc += ring[k & 1][(t * 16) & 255];
            pipe.consumer_release();
        }
    }
    block.sync();
    acc += s[(t * 3 + ring[(n - 1) & 1][t & 255]) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
