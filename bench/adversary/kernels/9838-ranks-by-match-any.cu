// launch 1 64 n=3
// launch 2 5x7x3 n=5
// launch 3 33 n=8
// launch 1 16x10 n=4
// Radix ranking: keys are twiddled floats, the leaders of match_any groups count in 16-bit halves of words that two
// warps share, a raking scan of four halves a lane with the predicate of shfl.up, a scatter by rank, over n passes.
extern "C" __global__ void k9838(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(8) unsigned short hist[16][8];
  __shared__ unsigned keys[256], s[1024];
  __shared__ unsigned char idx[256];
  unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), l = t & 31, w = t >> 5, acc = 0;
  unsigned lanes = nt - w * 32 >= 32 ? ~0u : ~(~0u << (nt & 31)), below;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * 11;
  float x = (float)((int)(t * 37 % 61) - 30) * f + (float)blockIdx.x;
  unsigned key = __float_as_uint(x);
  key ^= (unsigned)((int)key >> 31) | 0x80000000u;
  unsigned char id = (unsigned char)t;
  for (unsigned pass = 0; pass < n; ++pass) {
    if (t < 32) ((uint2*)hist)[t] = make_uint2(0, 0);
    __syncthreads();
    unsigned shift = (16 + pass * 4) & 31, d;
    asm volatile("bfe.u32 %0, %1, %2, 4;" : "=r"(d) : "r"(key), "r"(shift));
    unsigned m = __match_any_sync(lanes, d), r = __popc(m & below);
    if (l == 31 - __clz(m)) hist[d][w] = (unsigned short)(hist[d][w] + r + 1);
    __syncthreads();
    if (t < 32) {
      uint2 q = ((uint2*)hist)[t];
      unsigned p0 = q.x & 0xffff, p1 = p0 + (q.x >> 16), p2 = p1 + (q.y & 0xffff), p3 = p2 + (q.y >> 16), sum = p3;
      for (unsigned o = 1; o < 32; o <<= 1)
        asm volatile("{ .reg .pred p; .reg .u32 v; shfl.sync.up.b32 v|p, %0, %1, 0, 0xffffffff; "
                     "@p add.u32 %0, %0, v; }" : "+r"(sum) : "r"(o));
      unsigned ex = sum - p3;
      q.x = ex | (ex + p0) << 16;
      q.y = __byte_perm(ex + p1, ex + p2, 0x5410);
      ((uint2*)hist)[t] = q;
    }
    __syncthreads();
    unsigned rank = hist[d][w] + r;
    acc += s[(rank * (pass + 2)) & 1023];
    keys[rank] = key;
    idx[rank] = id;
    __syncthreads();
    key = keys[t];
    id = idx[t];
    acc += s[(id * 4 + (key >> 28)) & 1023] ^ keys[(t * 5) % nt];
    __syncthreads();
  }
  unsigned sign = (unsigned)((int)key >> 31);
  x = __uint_as_float(key ^ (~sign | 0x80000000u));
  acc += s[(int)x & 1023] + s[__float2uint_rz(x) & 1023] + s[(id * 32) & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
