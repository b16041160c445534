// Sixteen-bit elements: one a lane, and eight packed into 128 bits a lane.
#include <cuda_fp16.h>

extern "C" __global__ void one_half_a_lane(const __half* in, __half* out) {
    __shared__ __half s[32];
    unsigned tid = threadIdx.x;
    s[tid] = in[tid];        // site: store
    __syncthreads();
    out[tid] = s[31 - tid];  // site: load
}

struct alignas(16) Half8 {
    __half2 pairs[4];
};

extern "C" __global__ void eight_halves_a_lane(const Half8* in, Half8* out) {
    __shared__ Half8 s[32];
    unsigned tid = threadIdx.x;
    s[tid] = in[tid];        // site: store8
    __syncthreads();
    out[tid] = s[31 - tid];  // site: load8
}
