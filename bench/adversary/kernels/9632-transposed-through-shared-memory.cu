// launch 2x2 32x4 n=64
// launch 1 16x16 n=40
// launch 2x1 32x8 n=65
// Tiles read along rows and written along columns, with and without shared memory, bounds that cut tiles, vectors of rows.
extern "C" __global__ void k9632(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[32][33]; unsigned X = blockDim.x, Y = blockDim.y, tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * X, by = blockIdx.y * X;
    for (unsigned j = ty; j < X; j += Y) if (bx + tx < n && by + j < 62) s[j][tx] = src[(by + j) * n + bx + tx];
    __syncthreads();
    for (unsigned j = ty; j < X; j += Y) if (by + tx < 62 && bx + j < n) out[(bx + j) * 62 + by + tx] = s[tx][j];
    __syncthreads();
    for (unsigned j = ty; j < X; j += Y) { unsigned v = src[(bx + tx) * 40 % 3000 + j]; ((unsigned char*)out)[20000 + (by + j) * n + bx + tx] = (unsigned char)v; }
    if (tx < X / 4) for (unsigned j = ty; j < X; j += Y) { uint4 v = ((const uint4*)src)[(j * X >> 2) + tx]; s[j][tx] = v.x + v.w; ((uint2*)out)[5000 + j * 16 + tx] = make_uint2(v.y, v.z); }
}
