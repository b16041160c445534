// Cholesky factors of many 32 x 32 matrices, a matrix a warp, in shared memory; the lower triangle in place.

template <int Pitch>
__device__ void factor(float* matrices) {
    __shared__ float a[2][32][Pitch];
    int lane = threadIdx.x;
    float(&m)[32][Pitch] = a[threadIdx.y];
    float* global = matrices + (blockIdx.x * 2 + threadIdx.y) * 1024;
    for (int row = 0; row < 32; ++row) m[row][lane] = global[row * 32 + lane];        // site: fill
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < 32; ++k) {
        float pivot = sqrtf(m[k][k]);                                                 // site: pivot
        float column = m[lane][k] / pivot;                                            // site: column-load
        __syncwarp();
        if (lane > k) m[lane][k] = column;                                            // site: column-store
        if (lane == k) m[k][k] = pivot;                                               // site: pivot-store
        __syncwarp();
#pragma unroll 1
        for (int j = k + 1; j < 32; ++j)
            if (lane >= j) m[lane][j] -= column * m[j][k];                            // site: update
        __syncwarp();
    }
    for (int row = 0; row < 32; ++row)
        if (lane <= row) global[row * 32 + lane] = m[row][lane];                      // site: back
}

extern "C" __global__ void cholesky_pitch_32(float* matrices) { factor<32>(matrices); }
extern "C" __global__ void cholesky_pitch_33(float* matrices) { factor<33>(matrices); }
