// Matrix products on tensor cores as attention and GEMM libraries stage them: cp.async in three stages,
// XOR swizzles, ldmatrix with and without .trans, zero fill at the edges.

#include <cuda_fp16.h>

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(to)), "l"(from) : "memory");
}

__device__ void copy16_or_zero(void* to, const void* from, bool valid) {
    int size = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(shared_address(to)), "l"(from), "r"(size) : "memory");
}

__device__ void copy8_or_zero(void* to, const void* from, bool valid) {
    int size = valid ? 8 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(shared_address(to)), "l"(from), "r"(size) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

__device__ void matrices4(unsigned (&r)[4], const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}

__device__ void matrices4_trans(unsigned (&r)[4], const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}

__device__ void product(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A: m x k, B: k x n, both by rows; B through ldmatrix.trans. 64 x 64 tiles of C, k in steps of 32.
// SwizzleA: 16-byte chunk ^ (row / 2) % 4, as rows of 64 bytes need it.
template <int Stages, bool Swizzle>
__device__ void gemm_trans(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ __align__(128) __half as[Stages][64][32];
    __shared__ __align__(128) __half bs[Stages][32][64];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    auto load = [&](int stage, int start) {
        for (int i = thread; i < 64 * 4; i += 128) {
            int row = i / 4, chunk = i % 4, place = Swizzle ? chunk ^ (row / 2 % 4) : chunk;
            copy16(&as[stage][row][place * 8], a + (row0 + row) * k + start + chunk * 8);
        }
        for (int i = thread; i < 32 * 8; i += 128) {
            int row = i / 8, chunk = i % 8, place = Swizzle ? chunk ^ (row % 8) : chunk;
            copy16(&bs[stage][row][place * 8], b + (start + row) * n + column0 + chunk * 8);
        }
        commit();
    };
    float sums[8][4] = {};
    for (int s = 0; s < Stages - 1; s++) load(s, s * 32);
    int steps = k / 32;
    for (int step = 0; step < steps; step++) {
        wait<Stages - 2>();
        __syncthreads();
        int next = step + Stages - 1;
        if (next < steps) load(next % Stages, next * 32); else commit();
        int stage = step % Stages;
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned fragment[4];
            int row = warp * 16 + lane % 16, chunk = kk / 8 + lane / 16;
            matrices4(fragment, &as[stage][row][(Swizzle ? chunk ^ (row / 2 % 4) : chunk) * 8]);
            for (int column = 0; column < 8; column += 2) {
                unsigned other[4];
                int line = kk + lane % 16, piece = column + lane / 16;
                matrices4_trans(other, &bs[stage][line][(Swizzle ? piece ^ (line % 8) : piece) * 8]);
                product(sums[column], fragment, other[0], other[1]);
                product(sums[column + 1], fragment, other[2], other[3]);
            }
        }
    }
    for (int i = 0; i < 8; i++) {
        float* to = c + (row0 + warp * 16 + lane / 4) * n + column0 + i * 8 + lane % 4 * 2;
        to[0] = sums[i][0]; to[1] = sums[i][1]; to[8 * n] = sums[i][2]; to[8 * n + 1] = sums[i][3];
    }
}

extern "C" __global__ void gemm_trans_plain(const __half* a, const __half* b, float* c, int n, int k) { gemm_trans<2, false>(a, b, c, n, k); }
extern "C" __global__ void gemm_trans_swizzled(const __half* a, const __half* b, float* c, int n, int k) { gemm_trans<3, true>(a, b, c, n, k); }
extern "C" __global__ void gemm_trans_four(const __half* a, const __half* b, float* c, int n, int k) { gemm_trans<4, true>(a, b, c, n, k); }

// Edges: rows past the end are filled with zeros by the copy itself.
extern "C" __global__ void gemm_edges(const __half* a, const __half* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) __half as[2][64][40];
    __shared__ __align__(16) __half bs[2][64][40];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    auto load = [&](int stage, int start) {
        for (int i = thread; i < 256; i += 128) {
            int row = i / 4, chunk = i % 4;
            bool inside = row0 + row < m && start + chunk * 8 < k;
            copy16_or_zero(&as[stage][row][chunk * 8], a + (inside ? (row0 + row) * k + start + chunk * 8 : 0), inside);
        }
        for (int i = thread; i < 512; i += 128) {
            int row = i / 8, chunk = i % 8;
            bool inside = column0 + row < n && start + chunk * 4 < k;
            copy8_or_zero(&bs[stage][row][chunk * 4], b + (inside ? (column0 + row) * k + start + chunk * 4 : 0), inside);
        }
        commit();
    };
    float sums[8][4] = {};
    load(0, 0);
    for (int start = 0, stage = 0; start < k; start += 32, stage ^= 1) {
        if (start + 32 < k) load(stage ^ 1, start + 32); else commit();
        wait<1>();
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned fragment[4];
            matrices4(fragment, &as[stage][warp * 16 + lane % 16][kk + lane / 16 * 8]);
            for (int column = 0; column < 8; column += 2) {
                unsigned other[4];
                matrices4(other, &bs[stage][column * 8 + lane % 8 + lane / 16 * 8][kk + lane / 8 % 2 * 8]);
                product(sums[column], fragment, other[0], other[1]);
                product(sums[column + 1], fragment, other[2], other[3]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int row = row0 + warp * 16 + lane / 4, column = column0 + i * 8 + lane % 4 * 2;
        for (int half = 0; half < 2; half++)
            if (row + half * 8 < m) for (int j = 0; j < 2; j++) if (column + j < n) c[(row + half * 8) * n + column + j] = sums[i][half * 2 + j];
    }
}

// Attention over 64 queries, keys and values in a ring of three stages; heads of 64, causal when told.
extern "C" __global__ void flash_ring(const __half* q, const __half* k, const __half* v, float* out, int length, int causal) {
    extern __shared__ __align__(128) __half storage[];
    __half* qs = storage;                       // 64 x 64
    __half* ring = storage + 64 * 64;           // 3 stages of k and v: 2 x 32 x 64
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, row0 = blockIdx.x * 64;
    auto place = [](int row, int chunk) { return row * 64 + ((chunk ^ row % 8) * 8); };
    auto load = [&](int block) {
        __half* ks = ring + block % 3 * 2 * 32 * 64;
        __half* vs = ks + 32 * 64;
        for (int i = thread; i < 256; i += 128) {
            copy16(ks + place(i / 8, i % 8), k + (block * 32 + i / 8) * 64 + i % 8 * 8);
            copy16(vs + place(i / 8, i % 8), v + (block * 32 + i / 8) * 64 + i % 8 * 8);
        }
        commit();
    };
    for (int i = thread; i < 512; i += 128) copy16(qs + place(i / 8, i % 8), q + (row0 + i / 8) * 64 + i % 8 * 8);
    int blocks = causal ? (row0 + 64) / 32 : length / 32;
    load(0);
    load(1);
    unsigned query[4][4];
    float sums[8][4] = {}, largest[2] = {-3.0e38f, -3.0e38f}, total[2] = {};
    for (int block = 0; block < blocks; block++) {
        wait<1>();
        __syncthreads();
        if (block == 0) for (int i = 0; i < 4; i++) matrices4(query[i], qs + place(warp * 16 + lane % 16, i * 2 + lane / 16));
        if (block + 2 < blocks) load(block + 2); else commit();
        const __half* ks = ring + block % 3 * 2 * 32 * 64;
        const __half* vs = ks + 32 * 64;
        float scores[4][4] = {};
        for (int i = 0; i < 4; i++)
            for (int column = 0; column < 4; column += 2) {
                unsigned keys[4];
                matrices4(keys, ks + place(column * 8 + lane % 8 + lane / 16 * 8, i * 2 + lane / 8 % 2));
                product(scores[column], query[i], keys[0], keys[1]);
                product(scores[column + 1], query[i], keys[2], keys[3]);
            }
        if (causal && block * 32 + 31 > row0 + warp * 16)
            for (int column = 0; column < 4; column++) for (int j = 0; j < 4; j++)
                if (block * 32 + column * 8 + lane % 4 * 2 + j % 2 > row0 + warp * 16 + lane / 4 + j / 2 * 8) scores[column][j] = -3.0e38f;
        unsigned weights[2][4];
        for (int half = 0; half < 2; half++) {
            float top = largest[half];
            for (int column = 0; column < 4; column++) top = fmaxf(top, fmaxf(scores[column][half * 2], scores[column][half * 2 + 1]));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float scale = __expf(largest[half] - top);
            largest[half] = top;
            total[half] *= scale;
            for (int i = 0; i < 8; i++) { sums[i][half * 2] *= scale; sums[i][half * 2 + 1] *= scale; }
            for (int column = 0; column < 4; column++) {
                float a = __expf(scores[column][half * 2] - top), b = __expf(scores[column][half * 2 + 1] - top);
                total[half] += a + b;
                __half2 pair = __floats2half2_rn(a, b);
                weights[column / 2][column % 2 * 2 + half] = *reinterpret_cast<unsigned*>(&pair);
            }
        }
        for (int i = 0; i < 2; i++)
            for (int column = 0; column < 8; column += 2) {
                unsigned values[4];
                matrices4_trans(values, vs + place(i * 16 + lane % 16, column + lane / 16));
                product(sums[column], weights[i], values[0], values[1]);
                product(sums[column + 1], weights[i], values[2], values[3]);
            }
    }
    for (int half = 0; half < 2; half++) {
        total[half] += __shfl_xor_sync(~0u, total[half], 1);
        total[half] += __shfl_xor_sync(~0u, total[half], 2);
        for (int i = 0; i < 8; i++) for (int j = 0; j < 2; j++)
            out[(row0 + warp * 16 + lane / 4 + half * 8) * 64 + i * 8 + lane % 4 * 2 + j] = sums[i][half * 2 + j] / total[half];
    }
}

// Fragments stored to a padded tile and read back by rows: the usual epilogue.
extern "C" __global__ void epilogue(const float* in, float4* out) {
    __shared__ __align__(16) float tile[64][64 + 4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 8; i++) {
        float* to = &tile[warp * 16 + lane / 4][i * 8 + lane % 4 * 2];
        *reinterpret_cast<float2*>(to) = make_float2(in[i], in[i + 1]);
        *reinterpret_cast<float2*>(to + 8 * 68) = make_float2(in[i + 2], in[i + 3]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 16; i += 128) out[i] = *reinterpret_cast<float4*>(&tile[i / 16][i % 16 * 4]);
}
