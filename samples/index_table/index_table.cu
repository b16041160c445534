// Tables of indices that the kernel makes itself: written to shared memory, read back behind a barrier.

// A permutation, for any number of rows.
extern "C" __global__ void __launch_bounds__(128) bit_reversed(const float* in, float* out) {
    __shared__ unsigned order[128];
    __shared__ float row[128];
    int tid = threadIdx.x;
    order[tid] = __brev(tid) >> 25;                                             // site: order-store
    row[tid] = in[blockIdx.x * 128 + tid];
    __syncthreads();
    unsigned from = order[127 - tid];                                           // site: order-load
    out[blockIdx.x * 128 + tid] = row[from];                                    // site: reversed-load
}

// Where each row starts, from a parameter; rows from 16 on leave one word free.
extern "C" __global__ void __launch_bounds__(64) row_starts(const float* in, float* out, int pitch) {
    __shared__ int start[32];
    __shared__ float cells[32 * 40];
    int tid = threadIdx.x;
    int lane = tid % 32;
    if (tid < 32) start[tid] = tid * pitch + tid / 16;
    __syncthreads();
#pragma unroll 1
    for (int r = tid / 32; r < 32; r += 2) cells[start[r] + lane] = in[r * 32 + lane];   // site: row-store
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int c = tid / 32; c < 32; c += 2) sum += cells[start[lane] + c];       // site: column-load
    out[tid] = sum;
}

// The table bounds a loop: row r of a packed triangle has r + 1 words.
extern "C" __global__ void __launch_bounds__(32) triangle(const float* in, float* out) {
    __shared__ int first[33];
    __shared__ float packed[32 * 33 / 2];
    int r = threadIdx.x;
    first[r + 1] = (r + 1) * (r + 2) / 2;
    if (r == 0) first[0] = 0;
#pragma unroll 1
    for (int i = r; i < 32 * 33 / 2; i += 32) packed[i] = in[i];                // site: fill
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = first[r]; k < first[r + 1]; ++k) sum += packed[k];             // site: triangle-load
    out[r] = sum;
}

// Another table in each block, and one more made of it.
extern "C" __global__ void __launch_bounds__(128) strides(const float* in, float* out) {
    __shared__ unsigned order[128];
    __shared__ float row[128];
    int tid = threadIdx.x;
    order[tid] = tid * (blockIdx.x + 1) & 127;
    row[tid] = in[tid];
    __syncthreads();
    unsigned once = order[tid ^ 1];
    float a = row[once];                                                        // site: once-load
    __syncthreads();
    order[tid] = once * 2 & 127;
    __syncthreads();
    out[blockIdx.x * 128 + tid] = a + row[order[tid ^ 2]];                      // site: twice-load
}

// No barrier before the table is read: what it holds then is luck.
extern "C" __global__ void __launch_bounds__(128) unordered(const float* in, float* out) {
    __shared__ unsigned order[128];
    __shared__ float row[128];
    int tid = threadIdx.x;
    row[tid] = in[tid];
    order[tid] = tid * 2 & 127;
    __syncthreads();
    order[127 - tid] = tid;
    unsigned from = order[tid ^ 64];                                            // site: early-load
    out[blockIdx.x * 128 + tid] = row[from];                                    // site: luck-load
}
