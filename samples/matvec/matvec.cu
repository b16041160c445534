// Matrix times vector, the vector staged in shared memory.

constexpr unsigned kAll = 0xffffffffu;

// y = A x, A row-major, a row a warp, eight rows a block.
extern "C" __global__ void __launch_bounds__(256) matvec_rows(const float* a, const float* x, float* y, int rows, int columns) {
    extern __shared__ float xs[];
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    for (int i = threadIdx.x; i < columns; i += 256) xs[i] = x[i];                  // site: x-store
    __syncthreads();
    if (row >= rows) return;
    float sum = 0;
    for (int i = lane; i < columns; i += 32) sum += a[row * columns + i] * xs[i];   // site: x-load
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kAll, sum, offset);
    if (lane == 0) y[row] = sum;
}

// y = A^T x: a thread a column, 32 rows at a time in parallel over 8 groups, partial sums by columns.
extern "C" __global__ void __launch_bounds__(256) matvec_columns(const float* a, const float* x, float* y, int rows, int columns) {
    __shared__ float xs[256];
    __shared__ float partial[32][8];
    int tx = threadIdx.x % 32;
    int ty = threadIdx.x / 32;
    int column = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 256) {
        __syncthreads();
        if (r0 + threadIdx.x < rows) xs[threadIdx.x] = x[r0 + threadIdx.x];         // site: xs-store
        __syncthreads();
        for (int r = ty; r < 256 && r0 + r < rows; r += 8) sum += a[(r0 + r) * columns + column] * xs[r];   // site: xs-broadcast
    }
    partial[tx][ty] = sum;                                                          // site: partial-store
    __syncthreads();
    if (ty == 0) {
        for (int i = 1; i < 8; ++i) sum += partial[tx][i];                          // site: partial-load
        y[column] = sum;
    }
}
