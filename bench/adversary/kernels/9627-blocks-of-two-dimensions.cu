// launch 2x2 8x8 n=17
// launch 1x2 33x3 n=40
// launch 2x1 16x5 n=64
// launch 1 3x20 n=9
// Blocks of two dimensions: rows, columns, tiles, transposed stores, rows of warps, halves of warps on different rows.
extern "C" __global__ void k9627(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, acc = 0, w = gridDim.x * blockDim.x, t = threadIdx.y * blockDim.x + threadIdx.x;
    acc += src[y * w + x] + src[x * 48 + y] + src[y * n + x] + src[x * n + y] + src[y] + src[x] + src[x ^ y] + src[(y * w + x) / 3];
    acc += ((const uint2*)src)[y * w + x].y + ((const uint4*)src)[x * 3 + y].z + ((const unsigned char*)src)[y * 100 + x] + ((const unsigned short*)src)[x * 50 + y * 2];
    if (x > 0 && y > 0 && x + 1 < w) acc += src[(y - 1) * w + x] + src[y * w + x + 1] + src[(y + 1) * w + x - 1];
    out[y * w + x] = acc; out[4096 + x * 40 + y] = acc; ((uint2*)out)[4000 + t] = make_uint2(acc, t); if (threadIdx.y & 1) out[10000 + t] = acc;
    atomicAdd(&out[12000 + threadIdx.y], acc); atomicMax(&out[12100 + threadIdx.x * 3], t);
}
