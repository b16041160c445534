// The textbook machine: n banks, words of m bits, k threads a scheduling unit.

extern "C" __global__ void unit_stride(const float* in, float* out) {
    __shared__ float t[8];
    unsigned tid = threadIdx.x;
    t[tid] = in[tid];        // site: unit-stride
    __syncthreads();
    out[tid] = t[tid ^ 1];   // site: neighbour
}

extern "C" __global__ void stride_two(const float* in, float* out) {
    __shared__ float t[16];
    unsigned tid = threadIdx.x;
    t[tid] = in[tid];
    t[tid + 8] = in[tid + 8];
    __syncthreads();
    out[tid] = t[2 * tid];   // site: stride-two
}

extern "C" __global__ void two_words(const float* in, float* out) {
    __shared__ float t[8];
    unsigned tid = threadIdx.x;
    t[tid] = in[tid];
    __syncthreads();
    out[tid] = t[tid % 2];   // site: two-words
}
