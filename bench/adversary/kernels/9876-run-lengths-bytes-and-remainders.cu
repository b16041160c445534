// launch 1 64 n=7
// launch 2 70 n=100
// launch 1 3x7x5 n=33
// launch 1 128 n=1000
// run-length decoding: run lengths as bytes of words (SWAR prefix by a multiply, dp4a, prmt), offsets of 2 bytes with
// runs of length 0, a binary search of run-time length, bytes across words by funnel shifts, signed and 64-bit
// remainders of negative numbers by n
struct Upper {
  __device__ static int find(const unsigned short* off, int count, unsigned p) {
    int lo = 0, hi = count;
    while (lo < hi) {
      int mid = lo + (hi - lo) / 2;
      if (off[mid] <= p) lo = mid + 1;
      else hi = mid;
    }
    return lo - 1;
  }
};
struct Steps {
  __device__ static int find(const unsigned short* off, int count, unsigned p) {
    int at = 0;
    for (int step = 1 << (31 - __clz(count)); step; step >>= 1) {
      int next = at + step;
      if (next < count && off[next] <= p) at = next;
    }
    return at;
  }
};
template <class I>
__device__ I modulo(I x, I by) {
  I r = x % by;
  return r < 0 ? r + by : r;
}

template <class Search>
__device__ unsigned decode(const unsigned short* off, const unsigned* vals, unsigned* s, int count, unsigned total,
                           unsigned t, unsigned nt, int n) {
  unsigned acc = 0;
#pragma unroll 1
  for (unsigned p = t; p < total; p += nt) {
    int run = Search::find(off, count, p), shift = run * 8;
    unsigned v = __funnelshift_r(vals[run >> 2], vals[(run >> 2) + 1], shift);       // the shift wraps at 32
    unsigned in = p - off[run];
    acc += s[modulo((int)in * 37 - (int)(v & 0xff), n) & 1023];
    long long big = (long long)(int)v * -0x1234567ll + run;
    if (in == 0) acc += s[(unsigned)modulo(big, (long long)n) & 1023];
    else if (in & 1) acc ^= s[(unsigned)((unsigned long long)big / (unsigned long long)n) & 1023];
    acc += s[(unsigned)((int)(p - total) / n * 5 + (int)p) & 1023];
  }
  return acc;
}

extern "C" __global__ void k9876(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned short off[4 * 128 + 1];
  __shared__ unsigned vals[128 + 1], sums[4], s[1024];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5;
  unsigned live = w * 32 + 32 > nt ? (1u << (nt & 31)) - 1 : ~0u;
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * 13;
  unsigned x = (t + blockIdx.x * 77) * 747796405u + 2891336453u;
  unsigned lens = (x >> 5) & 0x03030103u;
  lens += (lens >> 1) & 0x01000100u;
  unsigned prefix = lens * 0x01010101u, sum = __dp4a(lens, 0x01010101u, 0u), y = sum;
  for (int o = 1; o < 32; o <<= 1) {
    unsigned z = __shfl_up_sync(live, y, o);
    if (l >= o) y += z;
  }
  if (live >> l == 1) sums[w] = y;                                   // the last that lives
  unsigned mixed;                                                    // one byte becomes copies of a sign
  asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(mixed) : "r"(x), "r"(~x), "r"(0xa705 ^ (t & 3) * 0x1111));
  vals[t] = mixed;
  if (t == 0) vals[nt] = 0x80ff7f01u;
  __syncthreads();
  unsigned base = y - sum, total = 0;
  for (unsigned i = 0; i < (nt + 31) / 32; ++i) {
    unsigned v = sums[i];
    base += i < w ? v : 0;
    total += v;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned sel;
    asm volatile("prmt.b32 %0, %1, 0, %2;" : "=r"(sel) : "r"(prefix << 8), "r"(0x4440 | k));
    off[t * 4 + k] = (unsigned short)(base + sel);
  }
  if (t == nt - 1) off[nt * 4] = total;
  __syncthreads();
  unsigned acc;
  if (n & 1) acc = decode<Upper>(off, vals, s, nt * 4, total, t, nt, n);
  else acc = decode<Steps>(off, vals, s, nt * 4, total, t, nt, n);
  __syncthreads();
  acc += s[off[(src[(t * 9) & 1023] + t) % (nt * 4)] & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
