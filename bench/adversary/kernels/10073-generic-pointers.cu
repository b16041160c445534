// launch 2 80 n=6
// launch 1 48 n=3
// launch 1 16x8 n=9
// generic pointers which are shared for some lanes and global or local for others, passed through noinline functions; generic stores and atomics
__device__ __noinline__ unsigned gather(const unsigned* p, unsigned i, unsigned stride) { return p[i * stride]; }
__device__ __noinline__ void scatter(unsigned short* p, unsigned i, unsigned short v) { p[i] = v; }
__device__ __noinline__ unsigned long long wide(const unsigned long long* p, unsigned i, int which) {
  return which ? p[i] : p[i ^ 1];
}

extern "C" __global__ void k10073(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(16) unsigned sh[512];
  __shared__ __align__(8) unsigned short hs[512];
  __shared__ unsigned cnt[64];
  const unsigned bd = blockDim.x * blockDim.y;
  const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y;
  const unsigned lane = tid & 31, warp = tid >> 5;
  for (unsigned i = tid; i < 512; i += bd) { sh[i] = src[i] ^ i; hs[i] = (unsigned short)i; }
  for (unsigned i = tid; i < 64; i += bd) cnt[i] = 0;
  __syncthreads();
  unsigned loc[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) loc[i] = tid * i + n;
  unsigned acc = 0;

  // 1. per warp and per trip: the whole warp is shared or global
  for (unsigned k = 0; k < n; ++k) {
    const unsigned* p = ((warp + k) & 1) ? sh : src;
    acc += gather(p, lane, (k & 7) + 1);
  }
  // 2. per lane: shared, global or local inside one instruction
  for (unsigned k = 0; k < n; ++k) {
    const unsigned* p;
    unsigned m = (lane * 5 + k) % 3;
    if (m == 0) p = sh + ((lane * 8 + k) & 255);
    else if (m == 1) p = src + lane;
    else p = loc + (k & 7);
    acc ^= *p;
  }
  // 3. generic 2-byte stores; half of the lanes into the (upper part of) out
  unsigned short* q = (lane & 4) ? hs : reinterpret_cast<unsigned short*>(out + 2048 + blockIdx.x * 256);
  scatter(q, (tid * 3 + n) & 511, (unsigned short)acc);
  // 4. generic atomics: shared for one parity
  unsigned* c = ((lane ^ n) & 1) ? &cnt[(lane * 4) & 63] : &out[3500 + (tid & 63)];
  unsigned old = atomicAdd(c, 1u);
  acc += old;
  __syncthreads();
  // 5. 8-byte generic, base chosen by n and by the warp
  const unsigned long long* w = (n > 4 || warp == 0) ? reinterpret_cast<const unsigned long long*>(sh)
                                                     : reinterpret_cast<const unsigned long long*>(src);
  unsigned long long z = wide(w, (tid * 2) & 255, (int)(warp & 1));
  acc += (unsigned)(z >> 32) ^ (unsigned)z;
  if (__isShared(w)) {
    const uint4* w4 = reinterpret_cast<const uint4*>(w);
    uint4 t = w4[(tid ^ (tid >> 3)) & 127];
    acc += t.x ^ t.y ^ t.z ^ t.w;
  }
  // 6. the count, deterministic after the barrier, is an index
  acc += hs[(cnt[(lane * 4) & 63] * 16 + lane) & 511];
  out[(blockIdx.x * 256 + tid) & 2047] = acc + __float_as_uint(f);
}
