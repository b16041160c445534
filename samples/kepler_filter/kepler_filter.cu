// A filter of 21 taps; a block of N threads stages N + 20 inputs in shared memory. Once for
// floats, once for two channels side by side in a float2: two outputs a thread.

constexpr int kTaps = 21;
constexpr int kThreads = 128;
constexpr int kInputs = kThreads + kTaps - 1;

__constant__ float taps[kTaps];

extern "C" __global__ void __launch_bounds__(kThreads) filter_float(const float* in, float* out) {
    __shared__ alignas(256) float s[kInputs];
    unsigned tid = threadIdx.x;
    const float* block = in + blockIdx.x * kThreads;
    s[tid] = block[tid];                                                           // site: fill
    if (tid < kTaps - 1) s[kThreads + tid] = block[kThreads + tid];                // site: fill-rest
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) sum += taps[k] * s[tid + k];                   // site: tap
    out[blockIdx.x * kThreads + tid] = sum;
}

template <typename Array>
__device__ void filter(const float2* in, float2* out, Array& s) {
    unsigned tid = threadIdx.x;
    const float2* block = in + blockIdx.x * kThreads;
    s[tid] = block[tid];                                                           // site: fill2
    if (tid < kTaps - 1) s[kThreads + tid] = block[kThreads + tid];                // site: fill2-rest
    __syncthreads();
    float2 sum = {0, 0};
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
        float2 input = s[tid + k];                                                 // site: tap2
        sum.x += taps[k] * input.x;
        sum.y += taps[k] * input.y;
    }
    out[blockIdx.x * kThreads + tid] = sum;
}

extern "C" __global__ void __launch_bounds__(kThreads) filter_float2(const float2* in, float2* out) {
    __shared__ alignas(256) float2 s[kInputs];
    filter(in, out, s);
}

// The same with no alignment stated: where the array starts then decides, in four-byte mode,
// which taps straddle a segment.
extern "C" __global__ void __launch_bounds__(kThreads) filter_float2_anywhere(const float2* in, float2* out) {
    __shared__ float2 s[kInputs];
    filter(in, out, s);
}
