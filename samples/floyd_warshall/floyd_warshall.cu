// Blocked shortest paths, the two easy phases: the pivot tile by itself, and the tiles in its row and column.

constexpr int kTile = 32;

extern "C" __global__ void pivot_tile(int* distance, int n, int pivot) {
    __shared__ int d[kTile][kTile];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int* cell = distance + (pivot * kTile + ty) * n + pivot * kTile + tx;
    d[ty][tx] = *cell;                                             // site: pivot-fill
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kTile; ++k) {
        int through = d[ty][k] + d[k][tx];                         // site: pivot-through
        __syncthreads();
        if (through < d[ty][tx]) d[ty][tx] = through;              // site: pivot-update
        __syncthreads();
    }
    *cell = d[ty][tx];
}

// blockIdx.y 0: tiles of the pivot's row; 1: of its column. blockIdx.x skips the pivot.
extern "C" __global__ void row_and_column(int* distance, int n, int pivot) {
    __shared__ int p[kTile][kTile];
    __shared__ int d[kTile][kTile];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int other = blockIdx.x < pivot ? blockIdx.x : blockIdx.x + 1;
    int row = blockIdx.y == 0 ? pivot : other;
    int column = blockIdx.y == 0 ? other : pivot;
    int* cell = distance + (row * kTile + ty) * n + column * kTile + tx;
    p[ty][tx] = distance[(pivot * kTile + ty) * n + pivot * kTile + tx];   // site: row-fill
    d[ty][tx] = *cell;                                                     // site: row-fill
    __syncthreads();
    int best = d[ty][tx];
#pragma unroll 1
    for (int k = 0; k < kTile; ++k) {
        int through = blockIdx.y == 0 ? p[ty][k] + d[k][tx] : d[ty][k] + p[k][tx];   // site: row-through
        best = min(best, through);
        __syncthreads();
        d[ty][tx] = best;                                                            // site: row-update
        __syncthreads();
    }
    *cell = best;
}
