// launch 1 16x8 n=0
// launch 2 10x5x3 n=1
// launch 1 100 n=2
// launch 2 33 n=7
// separable convolution by template: element type, radii, padding and border rule; reflected indices by signed
// remainders of negative numbers, signed bytes, short and double tiles in one raw buffer, the second pass reads a
// padded transposed tile
struct Clamp { __device__ static int at(int x, int size) { return min(max(x, 0), size - 1); } };
struct Wrap { __device__ static int at(int x, int size) { int m = x % size; return m + (m >> 31 & size); } };
struct Reflect {
  __device__ static int at(int x, int size) {
    int m = x % (2 * size);
    if (m < 0) m += 2 * size;
    return m >= size ? 2 * size - 1 - m : m;
  }
};

template <class T, int W, int H, int RX, int RY, int PAD, class Border>
struct Convolution {
  static constexpr int IW = W + 2 * RX, IH = H + 2 * RY, PITCH = IW + PAD, CP = IH + PAD;
  struct Tile { T in[IH * PITCH]; T col[W * CP]; };
  template <class A>
  __device__ static unsigned run(void* raw, const unsigned* src, int t, int nt, int bx, int by, int size,
                                 A weight) {
    Tile& m = *(Tile*)raw;
#pragma unroll 1
    for (int i = t; i < IW * IH; i += nt) {
      int y = i / IW, x = i - y * IW;
      int gx = Border::at(bx * W + x - RX, size), gy = Border::at(by * H + y - RY, size);
      m.in[y * PITCH + x] = (T)(src[(gy * 32 + gx) & 1023] + gx - gy);
    }
    __syncthreads();
#pragma unroll 1
    for (int i = t; i < W * IH; i += nt) {
      int y = i / W, x = i % W;
      A sum = 0;
#pragma unroll
      for (int k = -RX; k <= RX; ++k) sum += weight * (A)(k + 2) * (A)m.in[y * PITCH + x + RX + k];
      m.col[x * CP + y] = (T)sum;
    }
    __syncthreads();
    unsigned acc = 0;
#pragma unroll 1
    for (int i = t; i < W * H; i += nt) {
      int y = i % H, x = i / H;                        // the other way round
      A sum = 0;
#pragma unroll
      for (int k = 2 * RY; k >= 0; --k) sum += m.col[x * CP + y + k];
      acc = acc * 3 + (unsigned)(int)sum;
      if (x == 0 || y == H - 1)
        acc += (unsigned)(int)m.in[Border::at(y - 3 * H, IH) * PITCH + Border::at(x - 1, IW)];
    }
    return acc;
  }
};

extern "C" __global__ void k9867(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(16) unsigned char raw[8192];
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int nt = blockDim.x * blockDim.y * blockDim.z, b = blockIdx.x;
  unsigned acc;
  switch (n & 3) {
    case 0: acc = Convolution<float, 16, 8, 2, 1, 1, Reflect>::run(raw, src, t, nt, b, 0, 20, f); break;
    case 1: acc = Convolution<signed char, 12, 9, 1, 2, 3, Wrap>::run(raw, src, t, nt, b + 1, b, 11, 1); break;
    case 2: acc = Convolution<double, 8, 8, 1, 1, 0, Clamp>::run(raw, src, t, nt, b, 1, 15, (double)f); break;
    default: acc = Convolution<short, 15, 6, 3, 1, 5, Reflect>::run(raw, src, t, nt, -b, -1, 9 + (int)n, 1); break;
  }
  out[(b * nt + t) & 1023] = acc;
}
