// A persistent kernel: blocks fetch tile numbers from a counter in global memory until there are no more.

extern "C" __global__ void __launch_bounds__(256) persistent_transpose(const float* in, float* out, unsigned* counter, int tiles_x, int tiles_y) {
    __shared__ float tile[32][33];
    __shared__ int next;
    int tx = threadIdx.x % 32;
    int ty = threadIdx.x / 32;
    int width = tiles_x * 32;
    int height = tiles_y * 32;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) next = atomicAdd(counter, 1);                             // site: next-store
        __syncthreads();
        int t = next;                                                                   // site: next-load
        if (t >= tiles_x * tiles_y) break;
        int x = t % tiles_x * 32;
        int y = t / tiles_x * 32;
        for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + ty + j) * width + x + tx];     // site: tile-store
        __syncthreads();
        for (int j = 0; j < 32; j += 8) out[(x + ty + j) * height + y + tx] = tile[tx][ty + j];   // site: tile-load
    }
}

// A fixed share of the tiles a block instead: the same work, and nothing depends on data.
extern "C" __global__ void __launch_bounds__(256) strided_transpose(const float* in, float* out, int tiles_x, int tiles_y) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x % 32;
    int ty = threadIdx.x / 32;
    int width = tiles_x * 32;
    int height = tiles_y * 32;
    for (int t = blockIdx.x; t < tiles_x * tiles_y; t += gridDim.x) {
        int x = t % tiles_x * 32;
        int y = t / tiles_x * 32;
        for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + ty + j) * width + x + tx];     // site: strided-store
        __syncthreads();
        for (int j = 0; j < 32; j += 8) out[(x + ty + j) * height + y + tx] = tile[tx][ty + j];   // site: strided-load
        __syncthreads();
    }
}
