// launch 1 64 n=3
// launch 2 100 n=5
// launch 1 16x5x2 n=8
// launch 1 7x11x3 n=6
// CUB-like sort of twiddled float keys, two bits a pass: ranks by match or by ballots (template), one counter column
// a warp, a padded digit-major scan; the last warp is partial and its items lie at another stride; keys go through
// 2-byte cells
template <int BITS, int ITEMS, int WARPS, bool MATCH>
struct BlockRadix {
  static constexpr int RADIX = 1 << BITS;
  struct Temp {
    unsigned counts[RADIX][WARPS + 1];
    unsigned short hi[WARPS * 32 * ITEMS];
    unsigned short lo[WARPS * 32 * ITEMS];
  };
  Temp& m;
  unsigned w, l, live, wl;
  __device__ BlockRadix(Temp& temp, unsigned t, unsigned nt) : m(temp), w(t >> 5), l(t & 31) {
    wl = w * 32 + 32 > nt ? nt & 31 : 32;
    live = ~0u >> (32 - wl);
  }
  __device__ static unsigned twiddle(float x) {
    unsigned u = __float_as_uint(x);
    return u ^ ((unsigned)((int)u >> 31) | 0x80000000u);
  }
  __device__ unsigned peers(unsigned digit) const {
    if constexpr (MATCH) return __match_any_sync(live, digit);
    unsigned p = live;
#pragma unroll
    for (int b = 0; b < BITS; ++b) {
      unsigned v = __ballot_sync(live, (digit >> b) & 1);
      p &= (digit >> b) & 1 ? v : ~v;
    }
    return p;
  }
  __device__ void pass(unsigned (&key)[ITEMS], unsigned shift) {
    unsigned rank[ITEMS], lt = (1u << l) - 1;
    for (unsigned d = l; d < RADIX; d += wl) m.counts[d][w] = 0;
    if (w == 0)
      for (unsigned q = l; q < RADIX * (WARPS + 1); q += 32) (&m.counts[0][0])[q] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      unsigned d = __funnelshift_r(key[i], 0, shift) & (RADIX - 1);
      unsigned p = peers(d), before = m.counts[d][w];
      __syncwarp(live);
      rank[i] = before + __popc(p & lt);
      if ((p & lt) == 0) m.counts[d][w] = before + __popc(p);
      __syncwarp(live);
    }
    __syncthreads();
    if (w == 0) {                                   // RADIX * WARPS == 32, the first warp is always full
      unsigned c = m.counts[l / WARPS][l % WARPS], x = c;
      for (int o = 1; o < 32; o <<= 1) {
        unsigned y = __shfl_up_sync(~0u, x, o);
        if (l >= o) x += y;
      }
      m.counts[l / WARPS][l % WARPS] = x - c;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      unsigned d = (key[i] >> shift) & (RADIX - 1), at = m.counts[d][w] + rank[i];
      m.hi[at] = key[i] >> 16;
      m.lo[at] = key[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      unsigned at = w * 32 * ITEMS + i * wl + l;
      key[i] = m.hi[at] << 16 | m.lo[at];
    }
    __syncthreads();
  }
};

extern "C" __global__ void k9865(unsigned* out, const unsigned* src, unsigned n, float f) {
  using A = BlockRadix<2, 2, 8, true>;
  using B = BlockRadix<2, 2, 8, false>;
  __shared__ union { A::Temp a; B::Temp b; } temp;
  __shared__ unsigned table[1024];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z, acc = 0;
  for (unsigned i = t; i < 1024; i += nt) table[i] = i ^ (i >> 3);
  unsigned key[2];
  for (int i = 0; i < 2; ++i) {
    int v = (int)((t * 2 + i) * 37 % 101) - 50 + (int)blockIdx.x;
    key[i] = A::twiddle(f * (float)v);
  }
  __syncthreads();
  unsigned begin = 32 - 2 * (n < 6 ? n : 6);
  if (n & 1) {
    A s(temp.a, t, nt);
#pragma unroll 1
    for (unsigned b = begin; b < 32; b += 2) s.pass(key, b);
  } else {
    B s(temp.b, t, nt);
#pragma unroll 1
    for (unsigned b = begin; b < 32; b += 2) s.pass(key, b);
  }
  acc += table[(key[0] >> 20) & 1023];
  acc += table[((key[1] >> 16) + t * 2) & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc + key[0] * 3 + key[1];
}
