// Single-precision matrix products, C = A * B, row-major, sizes multiples of the tile.

// A tile of Tile x Tile, one element of C a thread.
template <int Tile>
__device__ void tiled(const float* a, const float* b, float* c, int n, int k) {
    __shared__ float as[Tile][Tile];
    __shared__ float bs[Tile][Tile];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * Tile + ty;
    int col = blockIdx.x * Tile + tx;
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += Tile) {
        as[ty][tx] = a[row * k + k0 + tx];                             // site: tile-a
        bs[ty][tx] = b[(k0 + ty) * n + col];                           // site: tile-b
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; ++i) sum += as[ty][i] * bs[i][tx];   // site: tile-read
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void sgemm_16(const float* a, const float* b, float* c, int n, int k) { tiled<16>(a, b, c, n, k); }
extern "C" __global__ void sgemm_32(const float* a, const float* b, float* c, int n, int k) { tiled<32>(a, b, c, n, k); }

constexpr int kTile = 128;
constexpr int kK = 8;

// 256 threads, 8 x 8 elements a thread, A stored transposed so that both operands are read as float4.
template <int PitchA, int Buffers>
__device__ void register_tiled(const float* a, const float* b, float* c, int n, int k) {
    __shared__ float as[Buffers][kK][PitchA];
    __shared__ float bs[Buffers][kK][kTile];
    int tid = threadIdx.x;
    int row = tid / 16;
    int col = tid % 16;
    int arow = tid / 2;
    int acol = tid % 2 * 4;
    int brow = tid / 32;
    int bcol = tid % 32 * 4;
    a += (blockIdx.y * kTile + arow) * k + acol;
    b += brow * n + blockIdx.x * kTile + bcol;

    float sum[8][8] = {};
    auto put = [&](int buffer, float4 av, float4 bv) {
        as[buffer][acol + 0][arow] = av.x;                             // site: put-a
        as[buffer][acol + 1][arow] = av.y;                             // site: put-a
        as[buffer][acol + 2][arow] = av.z;                             // site: put-a
        as[buffer][acol + 3][arow] = av.w;                             // site: put-a
        *reinterpret_cast<float4*>(&bs[buffer][brow][bcol]) = bv;      // site: put-b
    };
    auto multiply = [&](int buffer) {
#pragma unroll
        for (int kk = 0; kk < kK; ++kk) {
            float4 av[2], bv[2];
            av[0] = *reinterpret_cast<const float4*>(&as[buffer][kk][row * 4]);        // site: get-a
            av[1] = *reinterpret_cast<const float4*>(&as[buffer][kk][64 + row * 4]);   // site: get-a
            bv[0] = *reinterpret_cast<const float4*>(&bs[buffer][kk][col * 4]);        // site: get-b
            bv[1] = *reinterpret_cast<const float4*>(&bs[buffer][kk][64 + col * 4]);   // site: get-b
            const float* x = &av[0].x;
            const float* y = &bv[0].x;
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
        }
    };

    if constexpr (Buffers == 1) {
        for (int k0 = 0; k0 < k; k0 += kK) {
            put(0, *reinterpret_cast<const float4*>(a + k0), *reinterpret_cast<const float4*>(b + k0 * n));
            __syncthreads();
            multiply(0);
            __syncthreads();
        }
    } else {
        put(0, *reinterpret_cast<const float4*>(a), *reinterpret_cast<const float4*>(b));
        __syncthreads();
        int buffer = 0;
        for (int k0 = kK; k0 < k; k0 += kK) {
            float4 av = *reinterpret_cast<const float4*>(a + k0);
            float4 bv = *reinterpret_cast<const float4*>(b + k0 * n);
            multiply(buffer);
            buffer ^= 1;
            put(buffer, av, bv);
            __syncthreads();
        }
        multiply(buffer);
    }

    c += (blockIdx.y * kTile) * n + blockIdx.x * kTile;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        int r = i / 4 * 64 + row * 4 + i % 4;
        *reinterpret_cast<float4*>(c + r * n + col * 4) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *reinterpret_cast<float4*>(c + r * n + 64 + col * 4) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
}

extern "C" __global__ void __launch_bounds__(256) sgemm_register_tile(const float* a, const float* b, float* c, int n, int k) {
    register_tiled<kTile, 1>(a, b, c, n, k);
}

// Rows of A four words longer: the two columns that a warp stores fall into other banks.
extern "C" __global__ void __launch_bounds__(256) sgemm_double_buffer(const float* a, const float* b, float* c, int n, int k) {
    register_tiled<kTile + 4, 2>(a, b, c, n, k);
}
