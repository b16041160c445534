// launch 2x1x2 4x4x4 n=5
// launch 1 5x3x7 n=8
// launch 1x2 2x8x3 n=31
// Blocks of three dimensions: planes, columns along z, seven-point stencils, a volume of floats and of vectors.
extern "C" __global__ void k9628(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z + blockIdx.z * blockDim.z, X = blockDim.x, Y = blockDim.y, acc = 0, t = (threadIdx.z * Y + y) * X + x;
    unsigned b = blockIdx.x + blockIdx.y * gridDim.x; const unsigned* s = src + b * 256 + 200;
    acc += s[(z * Y + y) * X + x] + s[(x * Y + y) * 8 + z] + s[z * 64 + y * 8 + x] + s[z * n + y * 3 + x] + s[y] + s[z * 9];
    acc += s[(z * Y + y) * X + x + 1] + s[(int)((z * Y + y) * X + x) - 1] + s[((z + 1) * Y + y) * X + x] + s[(int)(((int)z - 1) * (int)Y + (int)y) * (int)X + (int)x] + s[(z * Y + y + 1) * X + x];
    acc += ((const uint2*)src)[t * 2 + b].x + ((const uint4*)src)[z * 16 + y * 4 + x].w + ((const unsigned char*)src)[z * 77 + y * 11 + x];
    out[b * 512 + t] = acc; out[4096 + (x * 8 + y) * 8 + z] = acc; ((uint4*)out)[2048 + y * 64 + z * 8 + x] = make_uint4(acc, x, y, z);
    if ((x ^ y ^ z) & 1) ((unsigned short*)out)[30000 + t * 3] = (unsigned short)acc;
}
