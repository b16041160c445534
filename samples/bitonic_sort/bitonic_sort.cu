// Bitonic sort of 1024 elements a block in shared memory.

constexpr int kElements = 1024;
constexpr int kThreads = kElements / 2;

extern "C" __global__ void __launch_bounds__(kThreads) sort_keys(unsigned* keys) {
    __shared__ unsigned s[kElements];
    unsigned tid = threadIdx.x;
    keys += blockIdx.x * kElements;
    s[tid] = keys[tid];
    s[tid + kThreads] = keys[tid + kThreads];
    for (unsigned size = 2; size <= kElements; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * tid - (tid & (stride - 1));
            unsigned high = low + stride;
            bool up = (low & size) == 0;
            unsigned a = s[low];                    // site: low
            unsigned b = s[high];                   // site: high
            if ((a > b) == up) {
                s[low] = b;                         // site: swap
                s[high] = a;                        // site: swap
            }
        }
    }
    __syncthreads();
    keys[tid] = s[tid];
    keys[tid + kThreads] = s[tid + kThreads];
}

// Keys and values in one 64-bit word; both are always written back.
extern "C" __global__ void __launch_bounds__(kThreads) sort_pairs(uint2* pairs) {
    __shared__ uint2 s[kElements];
    unsigned tid = threadIdx.x;
    pairs += blockIdx.x * kElements;
    s[tid] = pairs[tid];
    s[tid + kThreads] = pairs[tid + kThreads];
#pragma unroll 1
    for (unsigned size = 2; size <= kElements; size *= 2) {
#pragma unroll 1
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * tid - (tid & (stride - 1));
            unsigned high = low + stride;
            bool up = (low & size) == 0;
            uint2 a = s[low];                       // site: pair-low
            uint2 b = s[high];                      // site: pair-high
            bool swap = (a.x > b.x) == up;
            s[low] = swap ? b : a;                  // site: pair-low-back
            s[high] = swap ? a : b;                 // site: pair-high-back
        }
    }
    __syncthreads();
    pairs[tid] = s[tid];
    pairs[tid + kThreads] = s[tid + kThreads];
}
