// launch 1 64 n=6
// launch 2 100 n=3
// launch 1 5x7x3 n=4
// launch 1 192 n=2
// byte counters private to threads behind a shuffled thread position (run-time stride nt), counters of 16 bits two in
// a word private to warps by atomics, a rotated reduction, then an equalising table that the threads build by a scan
// and look up in their bytes
template <int BINS> struct PerThread {
  unsigned char* base;
  unsigned nt;
  __device__ void add(unsigned bin) const { base[bin * nt]++; }
};
template <int BINS> struct PerWarp {
  unsigned* base;
  __device__ void add(unsigned bin) const { atomicAdd(base + (bin >> 1), 1u << ((bin & 1) * 16)); }
};
template <class... H> struct All;
template <> struct All<> { __device__ void add(unsigned) const {} };
template <class A, class... H> struct All<A, H...> {
  A first;
  All<H...> rest;
  __device__ void word(unsigned x) const {
#pragma unroll
    for (int b = 2; b < 32; b += 8) add((x >> b) & 0x3f);
  }
  __device__ void add(unsigned bin) const { first.add(bin); rest.add(bin); }
};

extern "C" __global__ void k9871(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(4) unsigned char bytes[64 * 192];
  __shared__ unsigned warps[6][33];
  __shared__ unsigned bins[64];
  __shared__ __align__(4) unsigned short cdf[64];
  __shared__ unsigned s[1024];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z, nw = (nt + 31) / 32, acc = 0;
  for (unsigned i = t; i < 64 * 192 / 4; i += nt) ((unsigned*)bytes)[i] = 0;
  for (unsigned i = t; i < 6 * 33; i += nt) warps[i / 33][i % 33] = 0;
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * 11;
  __syncthreads();
  unsigned pos = t < (nt & ~63u) ? (t & ~63u) | (t & 15) << 2 | (t & 0x30) >> 4 : t;
  All<PerThread<64>, PerWarp<64>> h{{bytes + pos, nt}, {{warps[t >> 5]}, {}}};
  unsigned x = t * 0x9e3779b9u + blockIdx.x;
#pragma unroll 1
  for (unsigned k = 0; k < n; ++k) {
    x = x * 1664525u + 1013904223u;
    h.word(x);
    if (k == 1 && (t & 7) == 3) h.word(src[(t + k) & 1023] << 2);
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned bin = t; bin < 64; bin += nt) {
    const unsigned char* p = bytes + bin * nt;
    unsigned sum = 0, at = 4 * (bin & 15) % nt;
#pragma unroll 1
    for (unsigned i = 0; i < nt; ++i) {
      sum += p[at];
      if (++at == nt) at = 0;
    }
    unsigned other = 0;
    for (unsigned v = 0; v < nw; ++v) other += __byte_perm(warps[v][bin >> 1], 0, bin & 1 ? 0x4432 : 0x4410);
    bins[bin] = sum;
    if (sum != other) bins[bin] = 0;                    // never
  }
  __syncthreads();
  if (t < 32) {                                         // two bins a lane
    unsigned a = bins[t * 2], b = bins[t * 2 + 1], y = a + b;
    for (int o = 1; o < 32; o <<= 1) {
      unsigned z = __shfl_up_sync(~0u, y, o);
      y += (int)t >= o ? z : 0;
    }
    ((ushort2*)cdf)[t] = make_ushort2((unsigned short)(y - a - b), (unsigned short)(y - b));
  }
  __syncthreads();
  unsigned total = cdf[63] + bins[63];
  acc += s[cdf[(x >> 26) & 63] * 1023u / total];        // depends on what src added
  acc += s[((unsigned)bytes[((x >> 20) & 63) * nt + pos] * 64 + (t & 31)) & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
