// Sparse matrix times vector, compressed rows: products staged in shared memory, then a thread a row adds up.

constexpr int kProducts = 1024;
constexpr int kThreads = 128;

// starts[b] .. starts[b + 1] are the rows of block b; their entries fit into kProducts.
extern "C" __global__ void __launch_bounds__(kThreads) spmv_stream(const int* starts, const int* row_pointers, const int* columns, const float* values, const float* x, float* y) {
    __shared__ float products[kProducts];
    int first = starts[blockIdx.x];
    int last = starts[blockIdx.x + 1];
    int begin = row_pointers[first];
    int end = row_pointers[last];
    for (int i = begin + threadIdx.x; i < end; i += kThreads) products[i - begin] = values[i] * x[columns[i]];   // site: product-store
    __syncthreads();
    for (int row = first + threadIdx.x; row < last; row += kThreads) {
        float sum = 0;
        for (int i = row_pointers[row]; i < row_pointers[row + 1]; ++i) sum += products[i - begin];              // site: product-load
        y[row] = sum;
    }
}

// Rows of equal length (ELLPACK), the products transposed through shared memory.
extern "C" __global__ void __launch_bounds__(kThreads) spmv_ell(const int* columns, const float* values, const float* x, float* y, int width) {
    extern __shared__ float staged[];
    int entries = kThreads * width;
    int base = blockIdx.x * entries;
    for (int i = threadIdx.x; i < entries; i += kThreads) staged[i] = values[base + i] * x[columns[base + i]];   // site: ell-store
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += staged[threadIdx.x * width + i];                                      // site: ell-load
    y[blockIdx.x * kThreads + threadIdx.x] = sum;
}
