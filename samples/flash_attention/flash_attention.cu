// Attention with the softmax taken block by block of keys. One head: q, k, v and out are length x 64.
#include <cuda_fp16.h>

constexpr int kHead = 64;

// Single precision, 32 queries and 32 keys a step, 128 threads: 4 threads a query.
extern "C" __global__ void __launch_bounds__(128) attention_float(const float* q, const float* k, const float* v, float* out, int length, float scale) {
    __shared__ float qs[32][kHead + 1];
    __shared__ float ks[32][kHead + 1];
    __shared__ float vs[32][kHead];
    __shared__ float scores[32][32 + 1];
    int tid = threadIdx.x;
    int row = tid / 4;
    int part = tid % 4;
    for (int i = tid; i < 32 * kHead; i += 128) qs[i / kHead][i % kHead] = q[blockIdx.x * 32 * kHead + i];   // site: q-fill
    float sum[kHead / 4] = {};
    float largest = -3.4e38f;
    float total = 0;
    for (int key = 0; key < length; key += 32) {
        __syncthreads();
        for (int i = tid; i < 32 * kHead; i += 128) {
            ks[i / kHead][i % kHead] = k[key * kHead + i];                     // site: k-fill
            vs[i / kHead][i % kHead] = v[key * kHead + i];                     // site: v-fill
        }
        __syncthreads();
        float block_largest = largest;
        for (int j = part; j < 32; j += 4) {
            float dot = 0;
            for (int d = 0; d < kHead; ++d) dot += qs[row][d] * ks[j][d];      // site: dot
            scores[row][j] = dot * scale;                                      // site: score-store
            block_largest = fmaxf(block_largest, dot * scale);
        }
        block_largest = fmaxf(block_largest, __shfl_xor_sync(0xffffffffu, block_largest, 1));
        block_largest = fmaxf(block_largest, __shfl_xor_sync(0xffffffffu, block_largest, 2));
        __syncwarp();
        float shrink = __expf(largest - block_largest);
        largest = block_largest;
        total *= shrink;
        for (int d = 0; d < kHead / 4; ++d) sum[d] *= shrink;
        for (int j = 0; j < 32; ++j) {
            float p = __expf(scores[row][j] - largest);                        // site: score-load
            total += p;
            for (int d = 0; d < kHead / 4; ++d) sum[d] += p * vs[j][d * 4 + part];   // site: v-load
        }
    }
    for (int d = 0; d < kHead / 4; ++d) out[(blockIdx.x * 32 + row) * kHead + d * 4 + part] = sum[d] / total;
}

__device__ void ldmatrix_x4(unsigned (&r)[4], const void* p) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"          // site: ldmatrix
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ void ldmatrix_x4_trans(unsigned (&r)[4], const void* p) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"    // site: ldmatrix-trans
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

__device__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pack(float low, float high) {
    __half2 h = __floats2half2_rn(low, high);
    return reinterpret_cast<unsigned&>(h);
}

// Rows of 64 halves; chunk of 16 bytes c of row r lies at c ^ r mod 8.
__device__ int place(int row, int chunk) {
    return row * kHead + ((chunk ^ (row % 8)) * 8);
}

// Tensor cores: 64 queries a block, 16 a warp, 64 keys a step.
extern "C" __global__ void __launch_bounds__(128) attention_half(const __half* q, const __half* k, const __half* v, __half* out, int length, float scale) {
    __shared__ alignas(128) __half qs[64 * kHead];
    __shared__ alignas(128) __half ks[64 * kHead];
    __shared__ alignas(128) __half vs[64 * kHead];
    int tid = threadIdx.x;
    int lane = tid % 32;
    int warp = tid / 32;
    for (int i = tid; i < 64 * 8; i += 128)
        *reinterpret_cast<int4*>(qs + place(i / 8, i % 8)) = reinterpret_cast<const int4*>(q + blockIdx.x * 64 * kHead)[i];   // site: q16-fill
    __syncthreads();
    unsigned qr[4][4];
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) ldmatrix_x4(qr[kk], qs + place(warp * 16 + lane % 16, kk * 2 + lane / 16));                // site: q16-load
    float o[8][4] = {};
    float largest[2] = {-3.4e38f, -3.4e38f};
    float total[2] = {};
    for (int key = 0; key < length; key += 64) {
        __syncthreads();
        for (int i = tid; i < 64 * 8; i += 128) {
            *reinterpret_cast<int4*>(ks + place(i / 8, i % 8)) = reinterpret_cast<const int4*>(k + key * kHead)[i];           // site: k16-fill
            *reinterpret_cast<int4*>(vs + place(i / 8, i % 8)) = reinterpret_cast<const int4*>(v + key * kHead)[i];           // site: v16-fill
        }
        __syncthreads();
        float s[8][4] = {};
#pragma unroll
        for (int kk = 0; kk < 4; ++kk)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                unsigned r[4];
                ldmatrix_x4(r, ks + place(j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));                         // site: k16-load
                mma(s[2 * j], qr[kk], r[0], r[1]);
                mma(s[2 * j + 1], qr[kk], r[2], r[3]);
            }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float block_largest = largest[h];
#pragma unroll
            for (int j = 0; j < 8; ++j) block_largest = fmaxf(block_largest, fmaxf(s[j][2 * h], s[j][2 * h + 1]) * scale);
            block_largest = fmaxf(block_largest, __shfl_xor_sync(0xffffffffu, block_largest, 1));
            block_largest = fmaxf(block_largest, __shfl_xor_sync(0xffffffffu, block_largest, 2));
            float shrink = __expf(largest[h] - block_largest);
            largest[h] = block_largest;
            total[h] *= shrink;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                s[j][2 * h] = __expf(s[j][2 * h] * scale - block_largest);
                s[j][2 * h + 1] = __expf(s[j][2 * h + 1] * scale - block_largest);
                total[h] += s[j][2 * h] + s[j][2 * h + 1];
                o[j][2 * h] *= shrink;
                o[j][2 * h + 1] *= shrink;
            }
        }
#pragma unroll
        for (int kk = 0; kk < 4; ++kk) {
            unsigned p[4] = {pack(s[2 * kk][0], s[2 * kk][1]), pack(s[2 * kk][2], s[2 * kk][3]),
                             pack(s[2 * kk + 1][0], s[2 * kk + 1][1]), pack(s[2 * kk + 1][2], s[2 * kk + 1][3])};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                unsigned r[4];
                ldmatrix_x4_trans(r, vs + place(kk * 16 + lane % 16, j * 2 + lane / 16));                                     // site: v16-load
                mma(o[2 * j], p, r[0], r[1]);
                mma(o[2 * j + 1], p, r[2], r[3]);
            }
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
        total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            __half2 value = __floats2half2_rn(o[j][2 * h] / total[h], o[j][2 * h + 1] / total[h]);
            *reinterpret_cast<__half2*>(out + (blockIdx.x * 64 + warp * 16 + lane / 4 + h * 8) * kHead + j * 8 + lane % 4 * 2) = value;
        }
    }
}
