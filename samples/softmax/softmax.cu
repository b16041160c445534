// Softmax of rows: a row a block staged in shared memory, and a row a warp without.

constexpr unsigned kAll = 0xffffffffu;

struct Max {
    static constexpr float none = -3.4e38f;
    static __device__ float of(float a, float b) { return fmaxf(a, b); }
};

struct Sum {
    static constexpr float none = 0;
    static __device__ float of(float a, float b) { return a + b; }
};

// Reduces over the block; every thread gets the result.
template <typename Op>
__device__ float block_reduce(float value, float* scratch) {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2) value = Op::of(value, __shfl_xor_sync(kAll, value, offset));
    __syncthreads();
    if (lane == 0) scratch[warp] = value;                              // site: scratch-store
    __syncthreads();
    value = lane < blockDim.x / 32 ? scratch[lane] : Op::none;         // site: scratch-load
    for (int offset = 16; offset > 0; offset /= 2) value = Op::of(value, __shfl_xor_sync(kAll, value, offset));
    return value;
}

extern "C" __global__ void softmax_row(const float* in, float* out, int columns) {
    extern __shared__ float row[];
    __shared__ float scratch[32];
    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float largest = Max::none;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = in[i];                                                // site: row-store
        largest = fmaxf(largest, in[i]);
    }
    largest = block_reduce<Max>(largest, scratch);
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float e = __expf(row[i] - largest);                            // site: row-load
        row[i] = e;                                                    // site: row-update
        sum += e;
    }
    sum = block_reduce<Sum>(sum, scratch);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = row[i] / sum;   // site: row-result
}

// The same with four columns at a time; columns is a multiple of 4.
extern "C" __global__ void softmax_row4(const float4* in, float4* out, int columns) {
    extern __shared__ float4 row4[];
    __shared__ float scratch[32];
    int quads = columns / 4;
    in += blockIdx.x * quads;
    out += blockIdx.x * quads;
    float largest = Max::none;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = in[i];
        row4[i] = v;                                                   // site: row4-store
        largest = fmaxf(largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    largest = block_reduce<Max>(largest, scratch);
    float sum = 0;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = row4[i];                                            // site: row4-load
        v = {__expf(v.x - largest), __expf(v.y - largest), __expf(v.z - largest), __expf(v.w - largest)};
        row4[i] = v;                                                   // site: row4-update
        sum += v.x + v.y + v.z + v.w;
    }
    sum = block_reduce<Sum>(sum, scratch);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 v = row4[i];                                            // site: row4-result
        out[i] = {v.x / sum, v.y / sum, v.z / sum, v.w / sum};
    }
}
