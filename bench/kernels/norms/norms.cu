// Row-wise operations of transformer layers: half2 layer norm, RMS norm, online softmax, rotary embedding,
// bias + GELU through a tile, top-k, cross entropy.

#include <cuda_fp16.h>
#include <cuda_bf16.h>

__device__ float warp_sum(float v) { for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d); return v; }
__device__ float warp_max(float v) { for (int d = 16; d; d >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, d)); return v; }

template <int Warps>
__device__ float block_sum(float v) {
    __shared__ float partial[Warps];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < Warps ? partial[threadIdx.x] : 0;
        v = warp_sum(v);
        if (threadIdx.x == 0) partial[0] = v;
    }
    __syncthreads();
    v = partial[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void layernorm_half2(const __half2* in, const __half2* gamma, const __half2* beta, __half2* out, int columns, float epsilon) {
    extern __shared__ __half2 row[];
    const __half2* source = in + blockIdx.x * columns;
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        __half2 value = source[c];
        row[c] = value;
        float2 wide = __half22float2(value);
        sum += wide.x + wide.y;
    }
    float mean = block_sum<8>(sum) / (2 * columns), squares = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float2 wide = __half22float2(row[c]);
        squares += (wide.x - mean) * (wide.x - mean) + (wide.y - mean) * (wide.y - mean);
    }
    float scale = rsqrtf(block_sum<8>(squares) / (2 * columns) + epsilon);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        __half2 value = __hsub2(row[c], __float2half2_rn(mean));
        out[blockIdx.x * columns + c] = __hfma2(__hmul2(value, __float2half2_rn(scale)), gamma[c], beta[c]);
    }
}

extern "C" __global__ void rmsnorm_vector(const uint4* in, const uint4* weight, uint4* out, int vectors, float epsilon) {
    extern __shared__ uint4 kept[];
    float squares = 0;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        uint4 raw = in[blockIdx.x * vectors + v];
        kept[v] = raw;
        const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
        for (int i = 0; i < 4; i++) { float2 f = __bfloat1622float2(pairs[i]); squares += f.x * f.x + f.y * f.y; }
    }
    __nv_bfloat162 scale = __float2bfloat162_rn(rsqrtf(block_sum<4>(squares) / (8 * vectors) + epsilon));
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        uint4 raw = kept[v], w = weight[v];
        __nv_bfloat162* a = reinterpret_cast<__nv_bfloat162*>(&raw);
        __nv_bfloat162* b = reinterpret_cast<__nv_bfloat162*>(&w);
        for (int i = 0; i < 4; i++) a[i] = __hmul2(__hmul2(a[i], scale), b[i]);
        out[blockIdx.x * vectors + v] = raw;
    }
}

// A running maximum and a running sum a thread, combined through shared memory by a tree.
extern "C" __global__ void online_softmax(const float* in, float* out, int columns) {
    __shared__ float maxima[256];
    __shared__ float sums[256];
    float largest = -3.0e38f, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float x = in[blockIdx.x * columns + c], next = fmaxf(largest, x);
        sum = sum * __expf(largest - next) + __expf(x - next);
        largest = next;
    }
    maxima[threadIdx.x] = largest;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) {
            float a = maxima[threadIdx.x], b = maxima[threadIdx.x + stride], next = fmaxf(a, b);
            sums[threadIdx.x] = sums[threadIdx.x] * __expf(a - next) + sums[threadIdx.x + stride] * __expf(b - next);
            maxima[threadIdx.x] = next;
        }
        __syncthreads();
    }
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = __expf(in[blockIdx.x * columns + c] - maxima[0]) / sums[0];
}

// Halves of a head rotate against each other: lane i needs i + d/2.
extern "C" __global__ void rotary(const __half* in, const float2* table, __half* out, int heads, int size) {
    extern __shared__ __half head[];
    for (int h = threadIdx.y; h < heads; h += blockDim.y) {
        __half* mine = head + threadIdx.y * size;
        for (int i = threadIdx.x; i < size; i += blockDim.x) mine[i] = in[(blockIdx.x * heads + h) * size + i];
        __syncwarp();
        for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
            float2 cs = table[blockIdx.x * size / 2 + i];
            float a = __half2float(mine[i]), b = __half2float(mine[i + size / 2]);
            mine[i] = __float2half(a * cs.x - b * cs.y);
            mine[i + size / 2] = __float2half(b * cs.x + a * cs.y);
        }
        __syncwarp();
        for (int i = threadIdx.x; i < size; i += blockDim.x) out[(blockIdx.x * heads + h) * size + i] = mine[i];
        __syncwarp();
    }
}

// Pairs (2i, 2i+1) rotate: one 4-byte word a lane.
extern "C" __global__ void rotary_interleaved(const __half2* in, const float2* table, __half2* out, int pairs) {
    __shared__ __half2 words[8][66];
    int position = blockIdx.x * blockDim.y + threadIdx.y;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) words[threadIdx.y][i] = in[position * pairs + i];
    __syncthreads();
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __half22float2(words[threadIdx.y][i]), cs = table[position * pairs + i];
        out[position * pairs + i] = __floats2half2_rn(v.x * cs.x - v.y * cs.y, v.y * cs.x + v.x * cs.y);
    }
}

// The k largest of a row: every round a block-wide argmax that is then struck out.
extern "C" __global__ void top_k(const float* in, float* values, int* indices, int columns, int k) {
    extern __shared__ float row_values[];
    __shared__ float best_value[4];
    __shared__ int best_index[4];
    for (int c = threadIdx.x; c < columns; c += blockDim.x) row_values[c] = in[blockIdx.x * columns + c];
    __syncthreads();
    for (int round = 0; round < k; round++) {
        float value = -3.0e38f;
        int index = -1;
        for (int c = threadIdx.x; c < columns; c += blockDim.x)
            if (row_values[c] > value) { value = row_values[c]; index = c; }
        for (int d = 16; d; d >>= 1) {
            float other = __shfl_xor_sync(~0u, value, d);
            int at = __shfl_xor_sync(~0u, index, d);
            if (other > value || (other == value && at > index)) { value = other; index = at; }
        }
        if (threadIdx.x % 32 == 0) { best_value[threadIdx.x / 32] = value; best_index[threadIdx.x / 32] = index; }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < 4; w++) if (best_value[w] > value) { value = best_value[w]; index = best_index[w]; }
            values[blockIdx.x * k + round] = value;
            indices[blockIdx.x * k + round] = index;
            if (index >= 0) row_values[index] = -3.0e38f;
        }
        __syncthreads();
    }
}

// [batch, head, token, size] <-> [batch, token, head, size] with a bias, PyTorch's transform_bias_rescale_qkv.
extern "C" __global__ void split_heads(const float4* in, const float4* bias, float4* q, float4* k, float4* v, int tokens, int heads, int size4) {
    __shared__ float4 line[3 * 64];
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < 3 * heads * size4; i += blockDim.x) {
        float4 x = in[token * 3 * heads * size4 + i], b = bias[i];
        line[i] = make_float4(x.x + b.x, x.y + b.y, x.z + b.z, x.w + b.w);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < heads * size4; i += blockDim.x) {
        int h = i / size4, c = i % size4;
        q[(h * tokens + token) * size4 + c] = line[h * size4 + c];
        k[(h * tokens + token) * size4 + c] = line[heads * size4 + h * size4 + c];
        v[(h * tokens + token) * size4 + c] = line[2 * heads * size4 + h * size4 + c];
    }
}
