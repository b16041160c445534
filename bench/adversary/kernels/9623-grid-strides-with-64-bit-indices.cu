// launch 2 64 n=300
// launch 3 40 n=517
// launch 1 96 n=95
// launch 4 32 n=1000
// Loops that stride over the grid with size_t, int and long long; vectors with a tail; from the end; by warps.
extern "C" __global__ void k9623(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned acc = 0; size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) acc += src[i] + src[i * 3 / 2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (int)n / 4; i += (int)stride) { uint4 v = ((const uint4*)src)[i]; acc += v.x + v.w; ((uint4*)out)[i] = v; }
    for (unsigned i = n / 4 * 4 + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) out[i] = src[i];
    for (long long i = (long long)n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= (long long)stride) acc += src[i];
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, warps = stride >> 5, lane = threadIdx.x & 31;
    for (unsigned r = warp; r < 8; r += warps ? warps : 1) for (unsigned c = lane; c < n / 8; c += 32) acc += src[r * (n / 8) + c];
    #pragma unroll 4
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) acc += ((const unsigned char*)src)[i * 3];
    out[8192 + blockIdx.x * blockDim.x + threadIdx.x] = acc;
}
