// launch 1 64 n=4
// launch 1 96 n=3
// cuda::pipeline with producing and consuming warps over two stages; the data decide addresses.
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void k9511(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    namespace cg = cooperative_groups;
    __shared__ unsigned data[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = w == 0 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        if (w == 0) {
            pipe.producer_acquire();
            cuda::memcpy_async(&data[i & 1][l * 2], src + i * 64 + l * 2, 8, pipe);
            if (i & 1) acc += s[(l * 7) & 1023];
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            unsigned a = data[i & 1][(l * 3) & 63];
            acc += s[(a * 2 + w) & 1023];
            if (a & 2) s[(l * 4) & 1023] = a;
            pipe.consumer_release();
        }
    }
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
