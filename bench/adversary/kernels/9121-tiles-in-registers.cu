// launch 1 16x4 n=3
// launch 1 64 n=2
// launch 2 32x3 n=4
// A SIMT GEMM: A stored transposed with a pad, B in vectors, two buffers in turn, threads remapped within warps by division and xor.
extern "C" __global__ void k9121(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) float a[2][8][36], b[2][8][64];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    unsigned row = (w & 1) * 16 + (l / 8) * 4, column = (l % 8 ^ (w >> 1)) * 8;
    float sum[4][8] = {};
    auto load = [&](unsigned stage, unsigned slot) {
        for (unsigned k = t; k < 256; k += size) a[slot][k % 8][k / 8] = (float)(src[stage * 256 + k & 2047] & 3);
        for (unsigned k = t; k < 128; k += size)
            *(float4*)&b[slot][k / 16][(k % 16) * 4] = make_float4((float)(k & 1), (float)(stage & 1), (float)(src[k] & 1), 1.0f);
    };
    load(0, 0);
    __syncthreads();
    for (unsigned stage = 0; stage < n; stage++) {
        if (stage + 1 < n) load(stage + 1, (stage + 1) & 1);
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            float4 x = *(float4*)&a[stage & 1][k][row];
            float4 y = *(float4*)&b[stage & 1][k][column], z = *(float4*)&b[stage & 1][k][column + 4];
            float p[4] = {x.x, x.y, x.z, x.w}, q[8] = {y.x, y.y, y.z, y.w, z.x, z.y, z.z, z.w};
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
#pragma unroll
                for (unsigned j = 0; j < 8; j++) sum[i][j] = fmaf(p[i], q[j], sum[i][j]);
        }
        __syncthreads();
    }
    float* c = &a[0][0][0];
    float total = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        c[(t * 5 + i) % 288] = sum[i][i * 2];
        total += sum[i][7 - i];
        acc += s[(unsigned)sum[i][i + 3] * 4 & 1023];
    }
    __syncthreads();
    acc += s[((unsigned)total * l) & 1023];
    acc += __float_as_uint(c[(t * 9) % 288]);
    out[(blockIdx.x * size + t) & 2047] = acc;
}
