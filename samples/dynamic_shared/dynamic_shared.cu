// One dynamic allocation carved into arrays whose sizes are parameters.

extern __shared__ __align__(16) unsigned char memory[];

// rows x columns floats with the given pitch, then a maximum a row (double), then flags (bytes).
extern "C" __global__ void carve(const float* in, double* largest, unsigned char* flags, int rows, int columns, int pitch) {
    float* tile = reinterpret_cast<float*>(memory);
    double* row_largest = reinterpret_cast<double*>(memory + ((rows * pitch * sizeof(float) + 7) & ~size_t(7)));
    unsigned char* flag = reinterpret_cast<unsigned char*>(row_largest + rows);
    int tid = threadIdx.x;
    for (int i = tid; i < rows * columns; i += blockDim.x)
        tile[i / columns * pitch + i % columns] = in[blockIdx.x * rows * columns + i];   // site: tile-store
    __syncthreads();
    if (tid < rows) {
        double most = -1e300;
        for (int c = 0; c < columns; ++c) most = fmax(most, (double)tile[tid * pitch + c]);   // site: row-load
        row_largest[tid] = most;                                                         // site: double-store
        flag[tid] = most > 0;                                                            // site: flag-store
    }
    __syncthreads();
    if (tid < rows) {
        largest[blockIdx.x * rows + tid] = row_largest[rows - 1 - tid];                  // site: double-load
        flags[blockIdx.x * rows + tid] = flag[rows - 1 - tid];                           // site: flag-load
    }
}
