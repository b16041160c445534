// launch 1 48 n=4
// launch 2 128 n=6
// launch 1 8x10 n=5
// cp.async of 16, 8 and 4 bytes (16 with zero fill) into swizzled, padded and permuted places of a multi-stage ring, read later in other widths; a table brought by cp.async is then an index
#include <cuda_pipeline.h>
extern "C" __global__ void k10077(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(16) unsigned t16[3][32 * 16];     // 64-byte rows, four chunks, xor swizzle
  __shared__ __align__(16) unsigned t8[2][24 * 18];      // 72-byte rows
  __shared__ __align__(16) unsigned t4[33 * 8];
  __shared__ __align__(16) unsigned tab[256];
  const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y, bd = blockDim.x * blockDim.y;

  auto load16 = [&](unsigned stage) {
    unsigned* dst = t16[stage % 3];
    const unsigned* g = src + ((stage * 512) & 2047);
    for (unsigned c = tid; c < 128; c += bd) {
      unsigned r = c >> 2, ch = (c & 3) ^ ((r >> 1) & 3);
      __pipeline_memcpy_async(dst + r * 16 + ch * 4, g + c * 4, 16, (r >= 28) ? 8 : 0);
    }
  };
  auto load8 = [&](unsigned stage) {
    unsigned* dst = t8[stage & 1];
    for (unsigned c = tid; c < 24 * 8; c += bd)
      if ((c % 5) != stage % 5)
        __pipeline_memcpy_async(dst + (c >> 3) * 18 + (c & 7) * 2, src + ((c * 2 + stage * 64) & 4094), 8);
  };

  for (unsigned i = tid; i < 2 * 24 * 18; i += bd) (&t8[0][0])[i] = i;
  for (unsigned i = tid; i < 33 * 8; i += bd) t4[i] = i;
  __syncthreads();
  for (unsigned i = tid; i < 64; i += bd) __pipeline_memcpy_async(tab + i * 4, src + i * 4, 16);
  for (unsigned i = tid; i < 256; i += bd)
    __pipeline_memcpy_async(&t4[(i & 7) * 33 + (i >> 3)], src + i * 2, 4);      // transposing copy
  __pipeline_commit();
  load16(0); load8(0);
  __pipeline_commit();
  if (n > 1) load16(1);
  __pipeline_commit();

  unsigned acc = 0;
  for (unsigned k = 0; k < n; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    const unsigned* a = t16[k % 3];
    const unsigned r = (tid + k) & 31;
    uint4 v = *reinterpret_cast<const uint4*>(a + r * 16 + (((tid >> 5) ^ (r >> 1)) & 3) * 4);
    acc += v.x ^ v.y ^ v.z ^ v.w;
    acc += a[(tid & 31) * 16 + (k & 15)];                                       // column read, no swizzle
    const unsigned* b = t8[k & 1];
    uint2 u = *reinterpret_cast<const uint2*>(b + (tid % 24) * 18 + ((k * 2) & 15));
    acc ^= u.x * 3 + u.y;
    acc += reinterpret_cast<const unsigned short*>(b)[(tid * 36 + k) % (24 * 36)];
    unsigned j = tab[(tid * 5 + k) & 255];                                      // came with cp.async
    acc += t4[j % (33 * 8)] + reinterpret_cast<const unsigned char*>(t4)[(j * 4 + k) % (33 * 32)];
    __syncthreads();
    if (k + 2 < n) load16(k + 2);
    load8(k + 1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  out[(blockIdx.x * 256 + tid) & 4095] = acc + __float_as_uint(f);
}
