// launch 2x2 16x16 n=37
// launch 1x2 8x8 n=24
// launch 2x1 32x4 n=60
// A tiled product with bounds, vectors along one operand, an epilogue with a pitch of n, partial tiles in both directions.
extern "C" __global__ void k9647(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float A[32][33], B[32][33]; unsigned X = blockDim.x, Y = blockDim.y, tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * X + tx, row = blockIdx.y * Y + ty; const float* a = (const float*)src; float acc = 0;
    for (unsigned k = 0; k < n; k += X) {
        A[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.f; for (unsigned j = ty; j < X; j += Y) B[j][tx] = k + j < n && col < n ? a[(k + j) * n + col] : 0.f;
        __syncthreads(); for (unsigned j = 0; j < X; j++) acc += A[ty][j] * B[j][tx]; __syncthreads();
    }
    if (row < n && col < n) { ((float*)out)[row * n + col] = acc; ((float*)out)[4096 + col * n + row] = acc; } unsigned t = ty * X + tx; if (t * 4 + 3 < n * Y) ((float4*)out)[2048 + t] = ((const float4*)src)[t];
}
