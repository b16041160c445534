// Layout changes as Triton and CuTe make them: blocked to blocked, blocked to operand, through swizzled,
// padded and vectorised shared memory, of every element size.

#include <cuda_fp16.h>

// Warps 2 x 2, lanes 4 x 8, 8 halves a lane, stored by rows with a pad of 8, read by columns.
extern "C" __global__ void convert_padded(const uint4* in, __half* out) {
    __shared__ __align__(16) __half tile[64][64 + 8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = warp / 2 * 4 + lane / 8, column = warp % 2 * 0 + lane % 8 * 8;
    for (int i = 0; i < 64; i += 8) *reinterpret_cast<uint4*>(&tile[i + row][column]) = in[(i + row) * 8 + lane % 8];
    __syncthreads();
    for (int i = 0; i < 32; i++) out[t % 64 * 64 + t / 64 * 32 + i] = tile[t / 64 * 32 + i][t % 64];
}

// Triton's swizzle: vec, per_phase, max_phase.
template <typename T, int Rows, int Columns, int Vec, int PerPhase, int MaxPhase>
__device__ void swizzled(const T* in, T* out) {
    __shared__ __align__(16) T tile[Rows * Columns];
    auto place = [](int row, int column) {
        int phase = row / PerPhase % MaxPhase;
        return row * Columns + ((column / Vec) ^ phase) * Vec + column % Vec;
    };
    for (int i = threadIdx.x; i < Rows * Columns / Vec; i += blockDim.x) {
        int row = i / (Columns / Vec), column = i % (Columns / Vec) * Vec;
        if constexpr (sizeof(T) * Vec == 16) *reinterpret_cast<uint4*>(&tile[place(row, column)]) = *reinterpret_cast<const uint4*>(&in[row * Columns + column]);
        else if constexpr (sizeof(T) * Vec == 8) *reinterpret_cast<uint2*>(&tile[place(row, column)]) = *reinterpret_cast<const uint2*>(&in[row * Columns + column]);
        else for (int v = 0; v < Vec; v++) tile[place(row, column + v)] = in[row * Columns + column + v];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < Rows * Columns; i += blockDim.x) out[i] = tile[place(i % Rows, i / Rows)];
}

extern "C" __global__ void swizzle_half_8_1_8(const __half* in, __half* out) { swizzled<__half, 64, 64, 8, 1, 8>(in, out); }
extern "C" __global__ void swizzle_half_8_2_4(const __half* in, __half* out) { swizzled<__half, 64, 32, 8, 2, 4>(in, out); }
extern "C" __global__ void swizzle_half_4_2_4(const __half* in, __half* out) { swizzled<__half, 32, 32, 4, 2, 4>(in, out); }
extern "C" __global__ void swizzle_float_4_1_8(const float* in, float* out) { swizzled<float, 32, 64, 4, 1, 8>(in, out); }
extern "C" __global__ void swizzle_float_1_1_32(const float* in, float* out) { swizzled<float, 32, 32, 1, 1, 32>(in, out); }
extern "C" __global__ void swizzle_byte_16_1_8(const unsigned char* in, unsigned char* out) { swizzled<unsigned char, 32, 128, 16, 1, 8>(in, out); }
extern "C" __global__ void swizzle_double_2_2_4(const double* in, double* out) { swizzled<double, 32, 16, 2, 2, 4>(in, out); }

// 4 x 4 bytes a thread turned with byte permutes, words through shared memory.
extern "C" __global__ void transpose_bytes(const unsigned* in, unsigned* out) {
    __shared__ unsigned words[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    unsigned r[4];
    for (int i = 0; i < 4; i++) r[i] = in[(y * 4 + i) * 32 + x];
    unsigned a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140), c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
    unsigned turned[4] = {__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x5410), __byte_perm(c, d, 0x7632)};
    for (int i = 0; i < 4; i++) words[x][y * 4 + i] = turned[i];
    __syncthreads();
    for (int i = 0; i < 4; i++) out[(y * 4 + i) * 32 + x] = words[y * 4 + i][x];
}

// 16-byte elements: four quarter-warps a request.
extern "C" __global__ void transpose_vectors(const uint4* in, uint4* out, int pitch) {
    extern __shared__ uint4 vectors[];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int i = y; i < 16; i += blockDim.x / 16) vectors[i * pitch + x] = in[i * 16 + x];
    __syncthreads();
    for (int i = y; i < 16; i += blockDim.x / 16) out[i * 16 + x] = vectors[x * pitch + i];
}

// Vectors that some lanes share, as rows of an operand are in SIMT products.
extern "C" __global__ void fragments(const float* in, float* out) {
    __shared__ __align__(16) float a[32][36], b[32][68];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (int i = t; i < 32 * 32; i += 128) a[i / 32][i % 32] = in[i];
    for (int i = t; i < 32 * 64; i += 128) b[i / 64][i % 64] = in[i];
    __syncthreads();
    float sums[4][4] = {};
    int row = lane / 8 * 4 + warp % 2 * 16, column = lane % 8 * 4 + warp / 2 * 32;
    for (int k = 0; k < 32; k++) {
        float4 left = *reinterpret_cast<float4*>(&a[k][row]), right = *reinterpret_cast<float4*>(&b[k][column]);
        float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
        for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) sums[i][j] += l[i] * r[j];
    }
    for (int k = 0; k < 32; k += 2) {
        float2 left = *reinterpret_cast<float2*>(&a[row % 32][k]), right = *reinterpret_cast<float2*>(&b[k][column / 2 * 2]);
        sums[0][0] += left.x * right.x + left.y * right.y;
        float2 pair = *reinterpret_cast<float2*>(&a[(lane / 2) % 32][(lane / 4 * 2 + k) % 32]);
        sums[1][1] += pair.x * pair.y;
        float2 quad = *reinterpret_cast<float2*>(&b[lane / 4][lane % 4 / 2 * 2 + k]);
        sums[2][2] += quad.x - quad.y;
    }
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) out[(row + i) * 64 + column + j] = sums[i][j];
}

// Radix-8 exchanges of an FFT of 4096 points, complex numbers in two planes.
extern "C" __global__ void fft_exchanges(const float2* in, float2* out) {
    __shared__ float plane[512 * 8 + 512 / 4];
    int t = threadIdx.x;
    float2 v[8];
    auto padded = [](int i) { return i + i / 32; };
    for (int i = 0; i < 8; i++) v[i] = in[i * 512 + t];
    for (int stride = 1; stride < 512; stride *= 8) {
        for (int part = 0; part < 2; part++) {
            int from = t / stride * stride * 8 + t % stride;
            for (int i = 0; i < 8; i++) plane[padded(from + i * stride)] = part ? v[i].y : v[i].x;
            __syncthreads();
            for (int i = 0; i < 8; i++) (part ? v[i].y : v[i].x) = plane[padded(i * 512 + t)];
            __syncthreads();
        }
        for (int i = 0; i < 4; i++) { float2 a = v[i], b = v[i + 4]; v[i] = make_float2(a.x + b.x, a.y + b.y); v[i + 4] = make_float2(a.x - b.x, a.y - b.y); }
    }
    for (int i = 0; i < 8; i++) out[t * 8 + i] = v[i];
}
