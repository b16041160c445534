// Convolutions as in libraries: im2col tiles, depthwise, separable with registers, Winograd, pooling.

// Implicit GEMM: a column of the matrix is an output pixel, a row a tap of a channel.
extern "C" __global__ void im2col_gemm(const float* image, const float* filters, float* out, int channels, int height, int width, int count) {
    __shared__ float taps[16][16 + 1];
    __shared__ float weights[16][16 + 1];
    int tx = threadIdx.x, ty = threadIdx.y, pixel = blockIdx.x * 16 + tx, filter = blockIdx.y * 16 + ty;
    int oy = pixel / (width - 2), ox = pixel % (width - 2);
    float sum = 0;
    for (int start = 0; start < channels * 9; start += 16) {
        int row = start + ty, channel = row / 9, tap = row % 9;
        bool inside = channel < channels && oy < height - 2;
        taps[ty][tx] = inside ? image[(channel * height + oy + tap / 3) * width + ox + tap % 3] : 0;
        weights[ty][tx] = start + tx < channels * 9 && filter < count ? filters[filter * channels * 9 + start + tx] : 0;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 16; i++) sum += weights[ty][i] * taps[i][tx];
        __syncthreads();
    }
    if (filter < count && oy < height - 2) out[filter * (height - 2) * (width - 2) + pixel] = sum;
}

template <int R>
__device__ void depthwise(const float* in, const float* filters, float* out, int height, int width) {
    constexpr int Tile = 16, Side = Tile + 2 * R;
    __shared__ float tile[Side][Side];
    __shared__ float filter[2 * R + 1][2 * R + 1];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * Tile + tx;
    const float* plane = in + blockIdx.z * height * width;
    for (int i = thread; i < Side * Side; i += Tile * Tile) {
        int y = blockIdx.y * Tile + i / Side - R, x = blockIdx.x * Tile + i % Side - R;
        tile[i / Side][i % Side] = y >= 0 && y < height && x >= 0 && x < width ? plane[y * width + x] : 0;
    }
    if (thread < (2 * R + 1) * (2 * R + 1)) (&filter[0][0])[thread] = filters[blockIdx.z * (2 * R + 1) * (2 * R + 1) + thread];
    __syncthreads();
    float sum = 0;
    for (int dy = 0; dy <= 2 * R; dy++)
        for (int dx = 0; dx <= 2 * R; dx++) sum += filter[dy][dx] * tile[ty + dy][tx + dx];
    int y = blockIdx.y * Tile + ty, x = blockIdx.x * Tile + tx;
    if (y < height && x < width) out[(blockIdx.z * height + y) * width + x] = sum;
}

extern "C" __global__ void depthwise_3(const float* in, const float* filters, float* out, int height, int width) { depthwise<1>(in, filters, out, height, width); }
extern "C" __global__ void depthwise_7(const float* in, const float* filters, float* out, int height, int width) { depthwise<3>(in, filters, out, height, width); }

// Winograd F(2x2, 3x3): tiles of 4 x 4 with a stride of 2, transformed in shared memory.
extern "C" __global__ void winograd_input(const float* in, float* out, int width) {
    __shared__ float tile[18][20];
    int thread = threadIdx.x;
    for (int i = thread; i < 18 * 18; i += 64) tile[i / 18][i % 18] = in[(blockIdx.y * 16 + i / 18) * width + blockIdx.x * 16 + i % 18];
    __syncthreads();
    int ty = thread / 8 * 2, tx = thread % 8 * 2;
    float d[4][4], t[4][4];
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) d[i][j] = tile[ty + i][tx + j];
    for (int j = 0; j < 4; j++) { t[0][j] = d[0][j] - d[2][j]; t[1][j] = d[1][j] + d[2][j]; t[2][j] = d[2][j] - d[1][j]; t[3][j] = d[1][j] - d[3][j]; }
    __shared__ float spectrum[16][64 + 1];
    for (int i = 0; i < 4; i++) {
        spectrum[i * 4 + 0][thread] = t[i][0] - t[i][2]; spectrum[i * 4 + 1][thread] = t[i][1] + t[i][2];
        spectrum[i * 4 + 2][thread] = t[i][2] - t[i][1]; spectrum[i * 4 + 3][thread] = t[i][1] - t[i][3];
    }
    __syncthreads();
    for (int i = thread; i < 16 * 64; i += 64) out[(blockIdx.y * gridDim.x + blockIdx.x) * 1024 + i] = spectrum[i % 16][i / 16];
}

extern "C" __global__ void max_pool(const float2* in, float* out, int width2) {
    __shared__ float2 rows[2][64];
    int x = threadIdx.x;
    rows[0][x] = in[(2 * blockIdx.y) * width2 + blockIdx.x * 64 + x];
    rows[1][x] = in[(2 * blockIdx.y + 1) * width2 + blockIdx.x * 64 + x];
    __syncthreads();
    float2 a = rows[0][63 - x], b = rows[1][63 - x];
    out[blockIdx.y * width2 + blockIdx.x * 64 + x] = fmaxf(fmaxf(a.x, a.y), fmaxf(b.x, b.y));
}

// Bilinear: places come from the coordinates, with divisions and remainders by what is told at launch.
extern "C" __global__ void upsample(const float* in, float* out, int height, int width, int factor) {
    extern __shared__ float source[];
    for (int i = threadIdx.x; i < height * width; i += blockDim.x) source[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < height * width * factor * factor; i += blockDim.x) {
        int y = i / (width * factor), x = i % (width * factor);
        float fy = float(y) / factor, fx = float(x) / factor;
        int y0 = int(fy), x0 = int(fx), y1 = min(y0 + 1, height - 1), x1 = min(x0 + 1, width - 1);
        float wy = fy - y0, wx = fx - x0;
        out[i] = (source[y0 * width + x0] * (1 - wx) + source[y0 * width + x1] * wx) * (1 - wy)
               + (source[y1 * width + x0] * (1 - wx) + source[y1 * width + x1] * wx) * wy;
    }
}
