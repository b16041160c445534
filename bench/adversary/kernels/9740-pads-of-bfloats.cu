// launch 1 64 n=3 shared=8192
// launch 1 32x2 n=5 shared=8192
// Dynamic shared memory carved into a padded bf16 tile, a byte array at an odd place, aligned pointers and a tail of floats.
#include <cuda_bf16.h>
extern "C" __global__ void k9740(unsigned* out, const unsigned* src, unsigned n, float f) {
    extern __shared__ __align__(16) unsigned char raw[];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, acc = 0, pitch = 32 + n;
    __nv_bfloat16* tile = (__nv_bfloat16*)raw;
    unsigned char* bytes = (unsigned char*)(tile + 32 * pitch) + 1;
    float* tail = (float*)(((size_t)(bytes + 200) + 15) & ~(size_t)15);
    unsigned long long* big = (unsigned long long*)(((size_t)(tail + T) + 127) & ~127ull);
    for (unsigned i = t; i < 32 * 32; i += T) tile[i / 32 * pitch + i % 32] = __float2bfloat16((float)(i & 63));
    for (unsigned i = t; i < 200; i += T) bytes[i] = i;
    tail[t] = f; big[t] = t;
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) acc += (unsigned)__bfloat162float(tile[(t & 31) * pitch + k]) + bytes[t * 3 % 200] + (unsigned)tail[t ^ k] + (unsigned)big[(t * 5) % T];
    acc += bytes[(unsigned)__bfloat162float(tile[t]) * 2] + ((const unsigned*)raw)[t * n];
    out[t] = acc;
}
