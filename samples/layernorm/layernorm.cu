// Layer normalisation of rows: mean and variance by Welford's update, merged by shuffles and shared memory.

constexpr unsigned kAll = 0xffffffffu;

struct Moments {
    float mean, m2, count;
};

__device__ Moments merge(Moments a, Moments b) {
    float count = a.count + b.count;
    if (count == 0) return a;
    float delta = b.mean - a.mean;
    return {a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count, count};
}

__device__ Moments merge_warp(Moments m) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Moments other = {__shfl_xor_sync(kAll, m.mean, offset), __shfl_xor_sync(kAll, m.m2, offset), __shfl_xor_sync(kAll, m.count, offset)};
        m = merge(m, other);
    }
    return m;
}

extern "C" __global__ void layernorm(const float* in, const float* gain, const float* bias, float* out, int columns) {
    __shared__ Moments partial[32];
    __shared__ float statistics[2];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    Moments m = {0, 0, 0};
    for (int i = threadIdx.x; i < columns; i += blockDim.x) m = merge(m, {in[i], 0, 1});
    m = merge_warp(m);
    if (lane == 0) partial[warp] = m;                                                      // site: partial-store
    __syncthreads();
    if (warp == 0) {
        m = lane < blockDim.x / 32 ? partial[lane] : Moments{0, 0, 0};                     // site: partial-load
        m = merge_warp(m);
        if (lane == 0) {
            statistics[0] = m.mean;                                                        // site: statistics-store
            statistics[1] = rsqrtf(m.m2 / m.count + 1e-5f);                                // site: statistics-store
        }
    }
    __syncthreads();
    float mean = statistics[0];                                                            // site: statistics-load
    float scale = statistics[1];                                                           // site: statistics-load
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = (in[i] - mean) * scale * gain[i] + bias[i];
}

// Gradients of gain and bias: 32 columns a block, 32 x 8 threads, the tile of partial sums read down columns.
extern "C" __global__ void layernorm_gradient(const float* in, const float* upstream, float* gain, float* bias, int rows, int columns) {
    __shared__ float gains[8][33];
    __shared__ float biases[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float g = 0, b = 0;
    for (int row = threadIdx.y; row < rows; row += 8) {
        float u = upstream[row * columns + column];
        g += u * in[row * columns + column];
        b += u;
    }
    gains[threadIdx.y][threadIdx.x] = g;                                                   // site: gradient-store
    biases[threadIdx.y][threadIdx.x] = b;                                                  // site: gradient-store
    for (int step = 4; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.y < step) {
            gains[threadIdx.y][threadIdx.x] += gains[threadIdx.y + step][threadIdx.x];     // site: gradient-step
            biases[threadIdx.y][threadIdx.x] += biases[threadIdx.y + step][threadIdx.x];   // site: gradient-step
        }
    }
    if (threadIdx.y == 0) {
        gain[column] = gains[0][threadIdx.x];
        bias[column] = biases[0][threadIdx.x];
    }
}
