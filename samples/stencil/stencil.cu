// Stencils with halos in shared memory.

// Five points in two dimensions: 32 x 8 outputs a block, one cell of halo on each side.
extern "C" __global__ void five_point(const float* in, float* out, int width, int height) {
    __shared__ float tile[10][34];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * 32 + tx;
    int y = blockIdx.y * 8 + ty;
    auto at = [&](int px, int py) {
        return px >= 0 && px < width && py >= 0 && py < height ? in[py * width + px] : 0.0f;
    };
    tile[ty + 1][tx + 1] = at(x, y);                              // site: centre-store
    if (tx == 0) tile[ty + 1][0] = at(x - 1, y);                  // site: left-halo
    if (tx == 31) tile[ty + 1][33] = at(x + 1, y);                // site: right-halo
    if (ty == 0) tile[0][tx + 1] = at(x, y - 1);                  // site: upper-halo
    if (ty == 7) tile[9][tx + 1] = at(x, y + 1);                  // site: lower-halo
    __syncthreads();
    if (x < width && y < height)
        out[y * width + x] = 0.2f * (tile[ty + 1][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] +   // site: points
                                     tile[ty][tx + 1] + tile[ty + 2][tx + 1]);                          // site: points
}

// Seven points in three dimensions: a plane in shared memory, its neighbours above and below in registers.
extern "C" __global__ void seven_point(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float plane[18][18];
    int tx = threadIdx.x + 1;
    int ty = threadIdx.y + 1;
    int x = blockIdx.x * 16 + tx;
    int y = blockIdx.y * 16 + ty;
    int slice = nx * ny;
    const float* p = in + y * nx + x;
    float below = p[0];
    float centre = p[slice];
    for (int z = 1; z < nz - 1; ++z) {
        float above = p[(z + 1) * slice];
        __syncthreads();
        plane[ty][tx] = centre;                                                       // site: plane-centre
        if (threadIdx.y == 0) plane[0][tx] = p[z * slice - nx];                       // site: plane-row-halo
        if (threadIdx.y == 15) plane[17][tx] = p[z * slice + nx];                     // site: plane-row-halo
        if (threadIdx.x == 0) plane[ty][0] = p[z * slice - 1];                        // site: plane-column-halo
        if (threadIdx.x == 15) plane[ty][17] = p[z * slice + 1];                      // site: plane-column-halo
        __syncthreads();
        out[z * slice + y * nx + x] = plane[ty][tx - 1] + plane[ty][tx + 1] +         // site: plane-points
                                      plane[ty - 1][tx] + plane[ty + 1][tx] +         // site: plane-points
                                      above + below - 6.0f * centre;
        below = centre;
        centre = above;
    }
}

// Red-black relaxation: a thread updates every second cell of a row, so a warp's words are two apart.
extern "C" __global__ void red_black(float* cells, int steps) {
    __shared__ float tile[34][66];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    float* block = cells + blockIdx.x * 34 * 66;
    for (int i = ty * 32 + tx; i < 34 * 66; i += 256) (&tile[0][0])[i] = block[i];    // site: cells-fill
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        for (int row = ty + 1; row <= 32; row += 8) {
            int col = 2 * tx + 1 + (row + step) % 2;
            tile[row][col] = 0.25f * (tile[row][col - 1] + tile[row][col + 1] +       // site: cells-update
                                      tile[row - 1][col] + tile[row + 1][col]);       // site: cells-update
        }
        __syncthreads();
    }
    for (int i = ty * 32 + tx; i < 34 * 66; i += 256) block[i] = (&tile[0][0])[i];    // site: cells-back
}
