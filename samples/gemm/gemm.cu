// C = A * B with tiles in shared memory, the tiles copied in two ways.
//
// 256 threads as 16 x 16 compute a kM x kN tile of C, kK columns of A and rows of B at a time.
// Rows of both tiles are padded by kSkew floats. A is m x k, B is k x n, C is m x n, row-major;
// m and n are multiples of 128, k is a multiple of kK.

constexpr int kM = 128;
constexpr int kN = 128;
constexpr int kSkew = 8;
constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // rows and columns of C a thread computes: kM / 16, kN / 16

// A tile of Rows x Cols floats in shared memory, copied from global memory 16 bytes a thread.
template <int Rows, int Cols>
struct Loader {
    static constexpr int kPitch = Cols + kSkew;
    static constexpr int kVectorsARow = Cols / 4;
    static constexpr int kCopies = Rows * kVectorsARow / kThreads;

    // Through registers: a global load and a 16-byte shared store.
    static __device__ void copy(float* tile, const float* global, int pitch, int thread) {
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
            int vector = thread + i * kThreads;
            int row = vector / kVectorsARow;
            int col = vector % kVectorsARow * 4;
            const int4* from = reinterpret_cast<const int4*>(global + row * pitch + col);
            *reinterpret_cast<int4*>(tile + row * kPitch + col) = *from;   // site: copy
        }
    }

    // Past the registers: the copy engine of sm_80 and later.
    static __device__ void copy_async(float* tile, const float* global, int pitch, int thread) {
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
            int vector = thread + i * kThreads;
            int row = vector / kVectorsARow;
            int col = vector % kVectorsARow * 4;
            unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + row * kPitch + col));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"     // site: copy-async
                         :: "r"(to), "l"(global + row * pitch + col) : "memory");
        }
    }
};

template <int kK, bool kAsync>
__device__ void gemm(const float* a, const float* b, float* c, int n, int k) {
    using LoaderA = Loader<kM, kK>;
    using LoaderB = Loader<kK, kN>;
    __shared__ alignas(512) float As[kM][LoaderA::kPitch];
    __shared__ alignas(512) float Bs[kK][LoaderB::kPitch];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * 16 + tx;
    a += blockIdx.y * kM * k;
    b += blockIdx.x * kN;
    c += blockIdx.y * kM * n + blockIdx.x * kN;

    float sum[kPerThread][kPerThread] = {};
    for (int k0 = 0; k0 < k; k0 += kK) {
        if constexpr (kAsync) {
            LoaderA::copy_async(&As[0][0], a + k0, k, thread);           // site: async-a
            LoaderB::copy_async(&Bs[0][0], b + k0 * n, n, thread);       // site: async-b
            asm volatile("cp.async.commit_group;");
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        } else {
            LoaderA::copy(&As[0][0], a + k0, k, thread);                 // site: a
            LoaderB::copy(&Bs[0][0], b + k0 * n, n, thread);             // site: b
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kK; ++kk) {
            float av[kPerThread], bv[kPerThread];
#pragma unroll
            for (int i = 0; i < kPerThread; ++i) av[i] = As[ty + i * 16][kk];  // site: read-a
#pragma unroll
            for (int i = 0; i < kPerThread; ++i) bv[i] = Bs[kk][tx + i * 16];  // site: read-b
#pragma unroll
            for (int i = 0; i < kPerThread; ++i)
#pragma unroll
                for (int j = 0; j < kPerThread; ++j) sum[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kPerThread; ++i)
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) c[(ty + i * 16) * n + tx + j * 16] = sum[i][j];
}

template <int kK>
__global__ void __launch_bounds__(kThreads) gemm_int4(const float* a, const float* b, float* c, int n, int k) {
    gemm<kK, false>(a, b, c, n, k);
}

template <int kK>
__global__ void __launch_bounds__(kThreads) gemm_async(const float* a, const float* b, float* c, int n, int k) {
    gemm<kK, true>(a, b, c, n, k);
}

template __global__ void gemm_int4<8>(const float*, const float*, float*, int, int);
template __global__ void gemm_int4<16>(const float*, const float*, float*, int, int);
template __global__ void gemm_int4<32>(const float*, const float*, float*, int, int);
template __global__ void gemm_async<8>(const float*, const float*, float*, int, int);
template __global__ void gemm_async<16>(const float*, const float*, float*, int, int);
template __global__ void gemm_async<32>(const float*, const float*, float*, int, int);
