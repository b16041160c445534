// A square matrix transposed through a tile in shared memory: rows written, columns read.
// The pitch is the length of a row of the tile in elements; more than Tile is padding.

template <typename T, int Tile, int Pitch>
__device__ void transpose(const T* in, T* out, int n) {
    __shared__ T tile[Tile][Pitch];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * Tile + ty) * n + blockIdx.x * Tile + tx];   // site: row-store
    __syncthreads();
    out[(blockIdx.x * Tile + ty) * n + blockIdx.y * Tile + tx] = tile[tx][ty];  // site: column-load
}

extern "C" __global__ void float_32_pitch_32(const float* in, float* out, int n) { transpose<float, 32, 32>(in, out, n); }
extern "C" __global__ void float_32_pitch_33(const float* in, float* out, int n) { transpose<float, 32, 33>(in, out, n); }
extern "C" __global__ void float_16_pitch_16(const float* in, float* out, int n) { transpose<float, 16, 16>(in, out, n); }
extern "C" __global__ void float_16_pitch_17(const float* in, float* out, int n) { transpose<float, 16, 17>(in, out, n); }
extern "C" __global__ void float_16_pitch_18(const float* in, float* out, int n) { transpose<float, 16, 18>(in, out, n); }
extern "C" __global__ void double_16_pitch_16(const double* in, double* out, int n) { transpose<double, 16, 16>(in, out, n); }
extern "C" __global__ void double_16_pitch_17(const double* in, double* out, int n) { transpose<double, 16, 17>(in, out, n); }
extern "C" __global__ void double_16_pitch_18(const double* in, double* out, int n) { transpose<double, 16, 18>(in, out, n); }
