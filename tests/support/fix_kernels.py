"""Kernels with conflicts, for tests of their repair: the cases of the samples as separate code, and idioms that people
ask about.
"""

from __future__ import annotations

from ptxaudit.frontend.launch.launch import Launch

TRANSPOSE = """\
extern "C" __global__ void turn(const {type}* in, {type}* out, int n) {{
    __shared__ {type} tile[{tile}][{pitch}];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * {tile} + ty) * n + blockIdx.x * {tile} + tx];
    __syncthreads();
    out[(blockIdx.x * {tile} + ty) * n + blockIdx.y * {tile} + tx] = tile[tx][ty];
}}
"""


def transpose(type: str, tile: int, pitch: int) -> tuple[str, Launch]:
    """(source, launch) of a matrix transposed through a tile."""
    return TRANSPOSE.format(type=type, tile=tile, pitch=pitch), Launch(
        "turn", grid=(4, 2), block=(tile, tile), params=[None, None, 128]
    )


STRUCTURES = """\
struct Two { float x, y; };
extern "C" __global__ void pairs(const float* in, float* out) {
    __shared__ Two s[256];
    unsigned tid = threadIdx.x;
    s[tid].x = in[tid];
    s[tid].y = in[tid + 256];
    __syncthreads();
    out[tid] = s[255 - tid].x;
    out[tid + 256] = s[tid ^ 1].y;
}
"""

# Rows padded by 8 floats, which makes the stores of int4 conflict; the templated loader of a GEMM.
GEMM = """\
template <int kRows, int kColumns, int kSkew>
struct Tile {
    static constexpr int kPitch = kColumns + kSkew;
};
template <int kK>
__device__ void gemm(const float* a, const float* b, float* c, int n, int k) {
    constexpr int kSkew = 8;
    __shared__ float As[128][kK + kSkew];
    __shared__ float Bs[kK][128 + kSkew];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    float sum[8][8] = {};
    for (int at = 0; at < k; at += kK) {
        for (int v = tid; v < 128 * kK / 4; v += 256)
            *reinterpret_cast<int4*>(&As[v / (kK / 4)][v % (kK / 4) * 4]) = *reinterpret_cast<const int4*>(&a[(blockIdx.y * 128 + v / (kK / 4)) * k + at + v % (kK / 4) * 4]);
        for (int v = tid; v < kK * 128 / 4; v += 256)
            *reinterpret_cast<int4*>(&Bs[v / 32][v % 32 * 4]) = *reinterpret_cast<const int4*>(&b[(at + v / 32) * n + blockIdx.x * 128 + v % 32 * 4]);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kK; ++kk)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j)
                    sum[i][j] += As[ty + i * 16][kk] * Bs[kk][tx + j * 16];
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            c[(blockIdx.y * 128 + ty + i * 16) * n + blockIdx.x * 128 + tx + j * 16] = sum[i][j];
}
extern "C" __global__ void gemm_16(const float* a, const float* b, float* c, int n, int k) { gemm<16>(a, b, c, n, k); }
"""
GEMM_LAUNCH = Launch("gemm_*", grid=(2, 2), block=256, params=[None, None, None, 256, 64])

# Tiles of halves for tensor cores: rows of 64 bytes and of 128, filled 16 bytes at a time, read by ldmatrix.
LDMATRIX = """\
typedef unsigned short half_t;
extern "C" __global__ void matrices(const uint4* in, unsigned* out) {{
    __shared__ alignas(16) half_t tile[64][{columns}];
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    for (int v = tid; v < 64 * {columns} / 8; v += 128)
        *reinterpret_cast<uint4*>(&tile[v / ({columns} / 8)][v % ({columns} / 8) * 8]) = in[v];
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < {columns}; k += 16) {{
        unsigned from = (unsigned)__cvta_generic_to_shared(&tile[warp * 16 + lane % 16][k + lane / 16 * 8]), a, b, c, d;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.{trans}shared.b16 {{%0, %1, %2, %3}}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from));
        sum += a ^ b ^ c ^ d;
    }}
    out[tid] = sum;
}}
"""


def ldmatrix(columns: int, trans: bool) -> tuple[str, Launch]:
    """(source, launch) of a tile of 64 rows of `columns` halves."""
    return LDMATRIX.format(columns=columns, trans="trans." if trans else ""), Launch("matrices", grid=1, block=128)


# A transpose whose tile is declared with rows of 17 and indexed with rows of 16.
UNUSED_PADDING = """\
constexpr int kRows = 16, kColumns = 16;
template <typename T>
__global__ void swap(const T* in, T* out, int width) {
    __shared__ T block[kRows * (kColumns + 1)];
    int r = threadIdx.x / kColumns, c = threadIdx.x % kColumns;
    block[r * kColumns + c] = in[r * width + c];
    __syncthreads();
    out[r * width + c] = block[c * kColumns + r];
}
template __global__ void swap<float>(const float*, float*, int);
"""

# Rows of 32 floats filled by float4, a column read by float.
VECTORS = """\
extern "C" __global__ void columns(const float4* in, float* out) {
    __shared__ alignas(16) float tile[32][32];
    int tid = threadIdx.x;
    *reinterpret_cast<float4*>(&tile[tid / 8][tid % 8 * 4]) = in[tid];
    __syncthreads();
    for (int k = tid / 32; k < 32; k += 8) out[k * 32 + tid % 32] = tile[tid % 32][k];
}
"""

# Adjacent words, at an offset that only the launch specifies.
TWO_WORDS = """\
extern "C" __global__ void both(const float* in, float* out, int n) {
    __shared__ float s[1024];
    unsigned tid = threadIdx.x;
    s[tid] = in[tid];
    s[tid + 256] = in[tid + 256];
    s[tid + 512] = in[tid + 512];
    __syncthreads();
    out[tid] = s[2 * tid + n] * s[2 * tid + n + 1];
}
"""
