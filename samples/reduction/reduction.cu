// The sum of 512 floats by 512 threads, in two orders, each as a loop and unrolled.

constexpr int n = 512;

extern "C" __global__ void interleaved_loop(const float* in, float* out) {
    __shared__ float t[n];
    unsigned tid = threadIdx.x;
    t[tid] = in[blockIdx.x * n + tid];              // site: interleaved-fill
    __syncthreads();
#pragma unroll 1
    for (unsigned s = 1; s < n; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < n) {
            float other = t[index + s];             // site: interleaved-other
            t[index] += other;                      // site: interleaved-own
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = t[0];           // site: interleaved-result
}

extern "C" __global__ void interleaved_unrolled(const float* in, float* out) {
    __shared__ float t[n];
    unsigned tid = threadIdx.x;
    t[tid] = in[blockIdx.x * n + tid];
    __syncthreads();
#pragma unroll
    for (unsigned s = 1; s < n; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < n) {
            float other = t[index + s];             // site: interleaved-other-unrolled
            t[index] += other;                      // site: interleaved-own-unrolled
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = t[0];
}

extern "C" __global__ void sequential_loop(const float* in, float* out) {
    __shared__ float t[n];
    unsigned tid = threadIdx.x;
    t[tid] = in[blockIdx.x * n + tid];
    __syncthreads();
#pragma unroll 1
    for (unsigned s = n / 2; s > 0; s /= 2) {
        if (tid < s) {
            float other = t[tid + s];               // site: sequential-other
            t[tid] += other;                        // site: sequential-own
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = t[0];
}

extern "C" __global__ void sequential_unrolled(const float* in, float* out) {
    __shared__ float t[n];
    unsigned tid = threadIdx.x;
    t[tid] = in[blockIdx.x * n + tid];
    __syncthreads();
#pragma unroll
    for (unsigned s = n / 2; s > 0; s /= 2) {
        if (tid < s) {
            float other = t[tid + s];               // site: sequential-other-unrolled
            t[tid] += other;                        // site: sequential-own-unrolled
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = t[0];
}
