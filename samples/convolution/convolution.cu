// Convolutions: separable rows and columns of 17 taps, and a direct 3 x 3 over channels.

constexpr int kRadius = 8;
__constant__ float taps[2 * kRadius + 1];

// 16 x 4 threads, 8 outputs a thread: apron, 8 x 16 columns, apron. Edges read zero.
extern "C" __global__ void convolve_rows(const float* in, float* out, int width) {
    __shared__ float s[4][(8 + 2) * 16];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * 8 * 16 - 16 + tx;
    int y = blockIdx.y * 4 + ty;
    in += y * width;
    out += y * width;
#pragma unroll
    for (int i = 0; i < 10; ++i) {
        int px = x + i * 16;
        s[ty][tx + i * 16] = px >= 0 && px < width ? in[px] : 0;             // site: rows-fill
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; ++i) {
        float sum = 0;
#pragma unroll
        for (int j = -kRadius; j <= kRadius; ++j) sum += taps[kRadius - j] * s[ty][tx + i * 16 + j];   // site: rows-tap
        if (x + i * 16 < width) out[x + i * 16] = sum;
    }
}

// 16 x 8 threads, 8 outputs a thread down a column; the tile is stored transposed, padded to 81.
extern "C" __global__ void convolve_columns(const float* in, float* out, int width, int height) {
    __shared__ float s[16][(8 + 2) * 8 + 1];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx;
    int y = blockIdx.y * 8 * 8 - 8 + ty;
#pragma unroll
    for (int i = 0; i < 10; ++i) {
        int py = y + i * 8;
        s[tx][ty + i * 8] = py >= 0 && py < height ? in[py * width + x] : 0; // site: columns-fill
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; ++i) {
        float sum = 0;
#pragma unroll
        for (int j = -kRadius; j <= kRadius; ++j) sum += taps[kRadius - j] * s[tx][ty + i * 8 + j];    // site: columns-tap
        if (y + i * 8 < height) out[(y + i * 8) * width + x] = sum;
    }
}

constexpr int kChannels = 16;   // in; a thread computes 4 output channels

// 3 x 3, valid region only, weights [out][in][3][3]; 16 x 16 outputs a block, blockIdx.z counts groups of 4 channels.
extern "C" __global__ void convolve_direct(const float* in, const float* weights, float* out, int width) {
    __shared__ float tile[18][20];
    __shared__ float w[4][9];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int tid = ty * 16 + tx;
    int x0 = blockIdx.x * 16;
    int y0 = blockIdx.y * 16;
    float sum[4] = {};
    for (int c = 0; c < kChannels; ++c) {
        for (int i = tid; i < 18 * 18; i += 256)
            tile[i / 18][i % 18] = in[(c * width + y0 + i / 18) * width + x0 + i % 18];               // site: direct-fill
        if (tid < 36) w[tid / 9][tid % 9] = weights[((blockIdx.z * 4 + tid / 9) * kChannels + c) * 9 + tid % 9];  // site: direct-weights
        __syncthreads();
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
#pragma unroll
            for (int dx = 0; dx < 3; ++dx) {
                float value = tile[ty + dy][tx + dx];                                                 // site: direct-tap
#pragma unroll
                for (int o = 0; o < 4; ++o) sum[o] += value * w[o][dy * 3 + dx];                      // site: direct-weight
            }
        __syncthreads();
    }
    int n = width - 2;
    for (int o = 0; o < 4; ++o) out[((blockIdx.z * 4 + o) * n + y0 + ty) * n + x0 + tx] = sum[o];
}
