// Half-precision matrix products on tensor cores: ldmatrix feeds mma.m16n8k16.
// C (m x n, float) = A (m x k) * B (k x n), row-major halves. 128 threads compute a 64 x 64 tile, each warp 32 x 32.
#include <cuda_fp16.h>

constexpr int kTile = 64;
constexpr int kThreads = 128;

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void ldmatrix_x4(unsigned (&r)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"        // site: ldmatrix
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ void ldmatrix_x4_trans(unsigned (&r)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"  // site: ldmatrix-trans
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ void copy16(unsigned to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");  // site: copy16
}

// Where the 16-byte chunk `chunk` of row `row` lies, in halves, for rows of Columns halves.
struct Plain {
    template <int Columns>
    static __device__ int chunk(int row, int chunk) { return row * Columns + chunk * 8; }
    static constexpr int padding = 0;
};

struct Padded {
    template <int Columns>
    static __device__ int chunk(int row, int chunk) { return row * (Columns + padding) + chunk * 8; }
    static constexpr int padding = 8;
};

// Rows of 64 halves are 8 chunks: chunk ^ row mod 8. Rows of 32 halves are 4: two rows a 128-byte line.
struct Swizzled {
    template <int Columns>
    static __device__ int chunk(int row, int chunk) {
        constexpr int chunks = Columns / 8;
        constexpr int rows_a_line = 8 / chunks;
        return row * Columns + (chunk ^ (row / rows_a_line % chunks)) * 8;
    }
    static constexpr int padding = 0;
};

template <typename Layout, int kK>
struct Tiles {
    __half a[kTile * (kK + Layout::padding)];
    __half b[kK * (kTile + Layout::padding)];
};

// One step of kK on a pair of tiles; a warp owns 32 x 32 of C as 2 x 4 tiles of 16 x 8.
template <typename Layout, int kK>
__device__ void multiply(const Tiles<Layout, kK>& tiles, float (&c)[2][4][4]) {
    int lane = threadIdx.x % 32;
    int warp_row = threadIdx.x / 64 * 32;
    int warp_col = threadIdx.x / 32 % 2 * 32;
#pragma unroll
    for (int kk = 0; kk < kK; kk += 16) {
        unsigned a[2][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int row = warp_row + i * 16 + lane % 16;
            ldmatrix_x4(a[i], shared_address(&tiles.a[Layout::template chunk<kK>(row, kk / 8 + lane / 16)]));           // site: load-a
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            int row = kk + lane % 16;
            ldmatrix_x4_trans(b[j], shared_address(&tiles.b[Layout::template chunk<kTile>(row, (warp_col + j * 16) / 8 + lane / 16)]));  // site: load-b
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) mma(c[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

__device__ void write_back(float* c, int n, const float (&sum)[2][4][4]) {
    int lane = threadIdx.x % 32;
    int row = blockIdx.y * kTile + threadIdx.x / 64 * 32 + lane / 4;
    int col = blockIdx.x * kTile + threadIdx.x / 32 % 2 * 32 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float* p = c + (row + i * 16) * n + col + j * 8;
            *reinterpret_cast<float2*>(p) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(p + 8 * n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

// Through registers, one pair of tiles.
template <typename Layout>
__device__ void single_stage(const __half* a, const __half* b, float* c, int n, int k) {
    constexpr int kK = 64;
    __shared__ alignas(128) Tiles<Layout, kK> tiles;
    int tid = threadIdx.x;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    float sum[2][4][4] = {};
    for (int k0 = 0; k0 < k; k0 += kK) {
#pragma unroll
        for (int i = 0; i < kTile * kK / 8 / kThreads; ++i) {
            int row = (tid + i * kThreads) / 8;
            int chunk = (tid + i * kThreads) % 8;
            const int4* from_a = reinterpret_cast<const int4*>(a + row * k + k0 + chunk * 8);
            const int4* from_b = reinterpret_cast<const int4*>(b + (k0 + row) * n + chunk * 8);
            *reinterpret_cast<int4*>(&tiles.a[Layout::template chunk<kK>(row, chunk)]) = *from_a;      // site: store-a
            *reinterpret_cast<int4*>(&tiles.b[Layout::template chunk<kTile>(row, chunk)]) = *from_b;   // site: store-b
        }
        __syncthreads();
        multiply<Layout, kK>(tiles, sum);
        __syncthreads();
    }
    write_back(c, n, sum);
}

extern "C" __global__ void __launch_bounds__(kThreads) hgemm_plain(const __half* a, const __half* b, float* c, int n, int k) {
    single_stage<Plain>(a, b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(kThreads) hgemm_padded(const __half* a, const __half* b, float* c, int n, int k) {
    single_stage<Padded>(a, b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(kThreads) hgemm_swizzled(const __half* a, const __half* b, float* c, int n, int k) {
    single_stage<Swizzled>(a, b, c, n, k);
}

// A ring of three stages filled by cp.async, tiles of 32 columns; k is at least 64.
extern "C" __global__ void __launch_bounds__(kThreads) hgemm_multistage(const __half* a, const __half* b, float* c, int n, int k) {
    constexpr int kK = 32;
    constexpr int kStages = 3;
    extern __shared__ __align__(1024) unsigned char memory[];
    auto* stages = reinterpret_cast<Tiles<Swizzled, kK>*>(memory);
    int tid = threadIdx.x;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    auto fetch = [&](int stage, int k0) {
#pragma unroll
        for (int i = 0; i < kTile * kK / 8 / kThreads; ++i) {
            int v = tid + i * kThreads;
            copy16(shared_address(&stages[stage].a[Swizzled::chunk<kK>(v / 4, v % 4)]), a + v / 4 * k + k0 + v % 4 * 8);        // site: fetch-a
            copy16(shared_address(&stages[stage].b[Swizzled::chunk<kTile>(v / 8, v % 8)]), b + (k0 + v / 8) * n + v % 8 * 8);   // site: fetch-b
        }
    };
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) {
        fetch(s, s * kK);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    float sum[2][4][4] = {};
    int stage = 0;
    int next = kStages - 1;
    for (int k0 = 0; k0 < k; k0 += kK) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        int ahead = k0 + (kStages - 1) * kK;
        if (ahead < k) fetch(next, ahead);
        asm volatile("cp.async.commit_group;" ::: "memory");
        multiply<Swizzled, kK>(stages[stage], sum);
        stage = stage == kStages - 1 ? 0 : stage + 1;
        next = next == kStages - 1 ? 0 : next + 1;
    }
    write_back(c, n, sum);
}
