// launch 1 16x3 n=5 shared=16384
// launch 2 32x8 n=6 shared=16384
// launch 1 10x7 n=11 shared=13000
// dynamic shared memory carved by n into double/float/u16/u8/float4 tiles whose pads and offsets depend on n; transposes in each type; a volatile view at the end
extern __shared__ __align__(16) unsigned char dyn[];
template <class T> __device__ __forceinline__ T* carve(unsigned& at, unsigned count) {
  at = (at + (unsigned)sizeof(T) - 1) & ~((unsigned)sizeof(T) - 1);
  T* p = reinterpret_cast<T*>(dyn + at);
  at += count * (unsigned)sizeof(T);
  return p;
}
template <class T> __device__ __forceinline__ T make(unsigned v) { return (T)v; }
template <> __device__ __forceinline__ float4 make<float4>(unsigned v) { return make_float4(v, v + 1, v + 2, v + 3); }
template <class T> __device__ __forceinline__ unsigned fold(T v) { return (unsigned)v; }
template <> __device__ __forceinline__ unsigned fold<float4>(float4 v) { return (unsigned)(v.x + v.y * v.z + v.w); }

template <class T> __device__ __forceinline__ unsigned turn(T* t, unsigned dim, unsigned pitch, const unsigned* src) {
  unsigned acc = 0;
  for (unsigned y = threadIdx.y; y < dim; y += blockDim.y)
    for (unsigned x = threadIdx.x; x < dim; x += blockDim.x) t[y * pitch + x] = make<T>(src[(y * dim + x) & 4095]);
  __syncthreads();
  for (unsigned y = threadIdx.y; y < dim; y += blockDim.y)
    for (unsigned x = threadIdx.x; x < dim; x += blockDim.x) acc = acc * 3 + fold<T>(t[x * pitch + y]);
  return acc;
}

extern "C" __global__ void k10079(unsigned* out, const unsigned* src, unsigned n, float f) {
  const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y, bd = blockDim.x * blockDim.y;
  unsigned at = (n & 1) * 20;                              // a header of 0 or 20 bytes
  const unsigned pu8 = 32 + (n & 7), pu16 = 32 + 2 * (n % 3), pf = 32 + n % 5, pd = 16 + (n & 3), p4 = 8 + (n & 1);
  unsigned char* u8 = carve<unsigned char>(at, 32 * pu8);      // at most 32*39
  unsigned short* u16 = carve<unsigned short>(at, 32 * pu16);  // at most 32*36*2
  double* d = carve<double>(at, 16 * pd);                      // at most 16*19*8
  float* fl = carve<float>(at, 32 * pf);                       // at most 32*36*4
  float4* q = carve<float4>(at, 8 * p4);                       // at most 8*9*16: 11,764 bytes and the rounding
  unsigned acc = turn(fl, 32, pf, src);
  acc ^= turn(u8, 32, pu8, src);
  acc += turn(u16, 32, pu16, src + (n & 15));
  acc ^= turn(d, 16, pd, src);
  acc += turn(q, 8, p4, src);
  __syncthreads();
  // the float tile's place is reused, as volatile words: every access must happen
  volatile unsigned* v = reinterpret_cast<volatile unsigned*>(fl);
  for (unsigned i = tid; i < 256; i += bd) v[i * 2] = (i * 29 + n) & 255;
  __syncthreads();
  unsigned i = tid;
  for (unsigned k = 0; k < n; ++k) { i = v[(i & 255) * 2]; acc += i; }
  // two chars at once: the u16 view of the byte tile, which starts at 0 or 20
  acc += reinterpret_cast<unsigned short*>(u8)[(i * pu8 / 2) % (16 * 32)];
  out[(blockIdx.x * 256 + tid) & 4095] = acc + __float_as_uint(f);
}
