// Block reductions: shuffles inside a warp, one shared word a warp between them.

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

__device__ float warp_sum(float value) {
    for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(kAll, value, offset);
    return value;
}

extern "C" __global__ void block_sum(const float* in, float* out, int n) {
    __shared__ float partial[kWarp];
    int lane = threadIdx.x % kWarp;
    int warp = threadIdx.x / kWarp;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;                                       // site: partial-store
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / kWarp ? partial[lane] : 0;                  // site: partial-load
        sum = warp_sum(sum);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

struct Best {
    float value;
    int index;
};

extern "C" __global__ void block_argmax(const float* in, int* out, int n) {
    __shared__ Best best[kWarp];
    int lane = threadIdx.x % kWarp;
    int warp = threadIdx.x / kWarp;
    Best mine = {-3.4e38f, 0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[blockIdx.x * n + i] > mine.value) mine = {in[blockIdx.x * n + i], i};
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
        float value = __shfl_xor_sync(kAll, mine.value, offset);
        int index = __shfl_xor_sync(kAll, mine.index, offset);
        if (value > mine.value || (value == mine.value && index < mine.index)) mine = {value, index};
    }
    if (lane == 0) best[warp] = mine;                                         // site: best-store
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / kWarp; ++w)
            if (best[w].value > mine.value) mine = best[w];                   // site: best-load
        out[blockIdx.x] = mine.index;
    }
}

// The tree in shared memory down to a warp, shuffles from there.
extern "C" __global__ void tree_then_shuffle(const float* in, float* out) {
    extern __shared__ float tree[];
    unsigned tid = threadIdx.x;
    tree[tid] = in[2 * blockIdx.x * blockDim.x + tid] + in[(2 * blockIdx.x + 1) * blockDim.x + tid];  // site: tree-fill
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s >= kWarp; s /= 2) {
        if (tid < s) tree[tid] += tree[tid + s];                              // site: tree-step
        __syncthreads();
    }
    if (tid < kWarp) {
        float sum = warp_sum(tree[tid]);                                      // site: tree-last
        if (tid == 0) out[blockIdx.x] = sum;
    }
}
