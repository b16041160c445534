// launch 1 64 n=4
// launch 2 40 n=3
// launch 1 5x7x3 n=2
// launch 1 96 n=5
// Stockham radix-4 FFT, ping-pong by exchanged pointers, padding by a functor, twiddles and a digit-reversing
// permutation in constant memory read at places that differ by lane; the length is 4^n at run time (for n=5 mixed
// with one radix-2 stage of 128)
struct Tables {
  float c[64], s[64];
  unsigned char rev[256];
  constexpr Tables() : c(), s(), rev() {
    double x = 1, y = 0;                                       // turns by 2 pi / 256
    for (int i = 0; i < 64; ++i) {
      c[i] = (float)x;
      s[i] = (float)-y;
      double u = x * 0.99969881869620422 - y * 0.02454122852291229;
      y = x * 0.02454122852291229 + y * 0.99969881869620422;
      x = u;
    }
    for (int i = 0; i < 256; ++i) rev[i] = (i & 3) << 6 | (i & 12) << 2 | (i & 48) >> 2 | (i & 192) >> 6;
  }
};
__constant__ Tables tables;

struct PadBy16 { __device__ static int at(int i) { return i + (i >> 4); } };
struct PadBy5 { __device__ static int at(int i) { return i + i / 5; } };

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 turn(float2 a) { return make_float2(a.y, -a.x); }
__device__ __forceinline__ float2 twiddle(float2 a, int k) {     // by k / 256 of a circle, k below 192
  float c = tables.c[k & 63], s = tables.s[k & 63];
  float2 r = make_float2(a.x * c - a.y * s, a.x * s + a.y * c);
  for (int q = k >> 6; q > 0; --q) r = turn(r);
  return r;
}

template <class Pad>
struct Fft {
  float2 *from, *to;
  __device__ void four(int n, int ns, int t, int nt) {
#pragma unroll 1
    for (int j = t; j < n / 4; j += nt) {
      int k = j % ns, step = 64 / ns, d = (j / ns) * ns * 4 + k;
      float2 v[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) v[r] = twiddle(from[Pad::at(j + r * (n / 4))], k * step * r);
      float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], e = turn(v[1] - v[3]);
      to[Pad::at(d)] = a + c;
      to[Pad::at(d + ns)] = b + e;
      to[Pad::at(d + 2 * ns)] = a - c;
      to[Pad::at(d + 3 * ns)] = b - e;
    }
    __syncthreads();
    float2* x = from; from = to; to = x;
  }
  __device__ void two(int n, int t, int nt) {                    // the last stage of n = 2 * 4^k
    for (int j = t; j < n / 2; j += nt) {
      float2 a = from[Pad::at(j)], b = twiddle(from[Pad::at(j + n / 2)], j * (256 / n));
      to[Pad::at(j)] = a + b;
      to[Pad::at(j + n / 2)] = a - b;
    }
    __syncthreads();
    float2* x = from; from = to; to = x;
  }
};

template <class Pad>
__device__ unsigned transform(float2* m, int n, int t, int nt, float f) {
  Fft<Pad> fft{m, m + 320};
  unsigned acc = 0;
#pragma unroll 1
  for (int i = t; i < n; i += nt) fft.from[Pad::at(i)] = make_float2(f * (float)(i % 7), (float)(i & 3));
  __syncthreads();
  int ns = 1;
#pragma unroll 1
  for (; ns * 4 <= n; ns *= 4) fft.four(n, ns, t, nt);
  if (ns < n) fft.two(n, t, nt);
#pragma unroll 1
  for (int i = t; i < n; i += nt) {
    float2 v = fft.from[Pad::at(tables.rev[i] % n)];             // a permutation of the places, or a part of it
    acc = acc * 7 + __float_as_uint(v.x);
    fft.to[Pad::at(n - 1 - i)] = v;
  }
  __syncthreads();
  const float* re = (const float*)fft.to;
  for (int i = t; i < n; i += nt) acc ^= __float_as_uint(re[Pad::at(i) * 2 + (i & 1)]);
  return acc;
}

extern "C" __global__ void k9870(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ float2 m[640];
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int nt = blockDim.x * blockDim.y * blockDim.z;
  int len = n == 5 ? 128 : 1 << 2 * (n & 7);
  if (len > 256) len = 256;
  unsigned acc = n & 1 ? transform<PadBy5>(m, len, t, nt, f) : transform<PadBy16>(m, len, t, nt, f);
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
