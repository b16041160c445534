// One warp stores 32 floats: side by side, and down a column of a 32 x 32 array.

extern "C" __global__ void consecutive(const float* in, float* out) {
    __shared__ float s[32];
    unsigned tid = threadIdx.x;
    s[tid] = in[tid];        // site: store
    __syncthreads();
    out[tid] = s[31 - tid];  // site: load
}

extern "C" __global__ void column(const float* in, float* out) {
    __shared__ float s[32 * 32];
    unsigned tid = threadIdx.x;
    s[tid * 32] = in[tid];   // site: column-store
    __syncthreads();
    out[tid] = s[0];         // site: broadcast
}
