// launch 1 64 n=31
// launch 2 96 n=21
// launch 1 7x5x3 n=10
// launch 1 33 n=4
// transposes of 1-, 2-, 4-, 8- and 16-byte elements through CuTe-like swizzles (bits, base, signed shift) over byte
// addresses, packs read wider than they were written, a union read as other types; the widths that run are the bits
// of n, as a fold over types
template <int BITS, int BASE, int SHIFT> struct Swizzle {
  __host__ __device__ static constexpr unsigned at(unsigned x) {
    constexpr unsigned bits = (1u << BITS) - 1;
    constexpr unsigned from = bits << (BASE + (SHIFT > 0 ? SHIFT : 0));
    if constexpr (SHIFT >= 0) return x ^ ((x & from) >> SHIFT);
    else return x ^ ((x & (bits << BASE)) << -SHIFT);
  }
};
template <class T> struct Traits;
template <> struct Traits<unsigned char> {
  using Swz = Swizzle<3, 2, 3>;
  __device__ static unsigned char make(unsigned x) { return x * 7; }
  __device__ static unsigned hash(unsigned char v) { return v; }
};
template <> struct Traits<short> {
  using Swz = Swizzle<3, 2, 4>;
  __device__ static short make(unsigned x) { return (short)(x * 77); }
  __device__ static unsigned hash(short v) { return (unsigned)(int)v; }
};
template <> struct Traits<float> {
  using Swz = Swizzle<5, 2, 5>;
  __device__ static float make(unsigned x) { return (float)x * 0.5f; }
  __device__ static unsigned hash(float v) { return __float_as_uint(v); }
};
template <> struct Traits<double> {
  using Swz = Swizzle<3, 4, -3>;
  __device__ static double make(unsigned x) { return (double)x * 0.25; }
  __device__ static unsigned hash(double v) { return (unsigned)__double2hiint(v) ^ (unsigned)__double2loint(v); }
};
template <> struct Traits<uint4> {
  using Swz = Swizzle<3, 4, 4>;
  __device__ static uint4 make(unsigned x) { return make_uint4(x, x * 2, x * 3, x ^ 5); }
  __device__ static unsigned hash(uint4 v) { return v.x + v.y * 3 + v.z * 5 + v.w; }
};

template <class T, unsigned DIM> struct Transpose {
  static_assert(sizeof(T) * DIM * DIM <= 4096, "");
  __device__ static T& cell(unsigned char* m, unsigned r, unsigned c) {
    return *(T*)(m + Traits<T>::Swz::at((r * DIM + c) * (unsigned)sizeof(T)));
  }
  __device__ static unsigned run(unsigned char* m, unsigned t, unsigned nt) {
    unsigned acc = 0;
#pragma unroll 1
    for (unsigned i = t; i < DIM * DIM; i += nt) cell(m, i / DIM, i % DIM) = Traits<T>::make(i);
    __syncthreads();
#pragma unroll 1
    for (unsigned i = t; i < DIM * DIM; i += nt) acc = acc * 3 + Traits<T>::hash(cell(m, i % DIM, i / DIM));
    if constexpr (sizeof(T) < 4) {                               // four bytes that lie side by side under the swizzle
      for (unsigned i = t; i < DIM; i += nt) acc += *(unsigned*)&cell(m, i, i & ~3u);
    }
    __syncthreads();
    return acc;
  }
};

template <class... T> struct List {};
template <class... T>
__device__ unsigned all(List<T...>, unsigned char* m, unsigned which, unsigned t, unsigned nt) {
  unsigned acc = 0, bit = 1;
  ((acc += which & bit ? Transpose<T, sizeof(T) <= 4 ? 32 : 16>::run(m, t, nt) : bit, bit += bit), ...);
  return acc;
}

extern "C" __global__ void k9875(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ union { unsigned char bytes[4096]; uint4 quad[256]; unsigned long long two[512]; unsigned w[1024]; } m;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  for (unsigned i = t; i < 1024; i += nt) m.w[i] = i * 3;
  __syncthreads();
  unsigned acc = all(List<unsigned char, short, float, double, uint4>(), m.bytes, n, t, nt);
  uint4 v = m.quad[Swizzle<2, 1, 3>::at(t & 255)];
  unsigned long long d = m.two[Swizzle<4, 0, 4>::at(t * 17 & 511)];
  acc += v.y + (unsigned)(d >> 32);
  acc += m.w[Swizzle<5, 0, 5>::at((v.x + t * 32) & 1023)];
  acc += m.w[Swizzle<3, 2, -4>::at(src[(t * 3) & 1023] & 1023) & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
