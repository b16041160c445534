// Functions that are not inlined, and pointers that do not say which memory they point to.

__device__ __noinline__ float sum_row(const float* row, int columns, int step) {
    float sum = 0;
    for (int i = 0; i < columns; ++i) sum += row[i * step];                    // site: generic-load
    return sum;
}

// The callee gets generic pointers, once into shared memory, once into global memory.
extern "C" __global__ void call_sums(const float* in, float* out) {
    __shared__ float tile[32 * 33];
    int tid = threadIdx.x;   // 32 threads
    for (int i = tid; i < 1024; i += 32) tile[i / 32 * 33 + i % 32] = in[blockIdx.x * 1024 + i];   // site: call-fill
    __syncwarp();
    float rows = sum_row(tile + tid * 33, 32, 1);
    float columns = sum_row(tile + tid, 32, 33);
    float global = sum_row(in + tid, 32, 32);
    out[blockIdx.x * 32 + tid] = rows + columns + global;
}

// Spills to an indexed local array that then decides shared addresses.
extern "C" __global__ void indexed_locals(const float* in, float* out, int turns) {
    __shared__ float s[32 * 8];
    int tid = threadIdx.x;   // 32 threads
    int place[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) place[i] = i * 32 + (tid ^ i);
    for (int i = 0; i < 8; ++i) s[place[(i + turns) % 8]] = in[blockIdx.x * 256 + i * 32 + tid];   // site: local-store
    __syncwarp();
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += s[tid * 8 + i];                                             // site: local-load
    out[blockIdx.x * 32 + tid] = sum;
}
