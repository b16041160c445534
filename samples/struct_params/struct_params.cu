// Geometry in a struct parameter: strides decide the banks, and they lie inside the struct.

struct Geometry {
    int rows;
    int columns;
    int pitch;         // words between rows of the tile
    short step;        // words between columns of the tile
    unsigned char swap;   // read rows instead of columns
};

extern "C" __global__ void gather(Geometry g, const float* in, float* out) {
    __shared__ float tile[4096];
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    for (int i = tid; i < g.rows * g.columns; i += threads)
        tile[i / g.columns * g.pitch + i % g.columns * g.step] = in[blockIdx.x * g.rows * g.columns + i];   // site: tile-store
    __syncthreads();
    for (int i = tid; i < g.rows * g.columns; i += threads) {
        int row = g.swap ? i % g.rows : i / g.columns;
        int column = g.swap ? i / g.rows : i % g.columns;
        out[blockIdx.x * g.rows * g.columns + i] = tile[row * g.pitch + column * g.step];                   // site: tile-load
    }
}
