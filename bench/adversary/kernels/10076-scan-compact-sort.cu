// launch 1 48 n=3
// launch 2 16x6 n=6
// launch 1 256 n=11
// padded Blelloch scan, compaction list (u16) used as indices, counting sort with per-thread u16 counters, loops whose trip counts are bucket sizes read from shared memory
extern "C" __global__ void k10076(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned scan[264];
  __shared__ unsigned char flag[256];
  __shared__ unsigned short list[256];
  __shared__ unsigned char keys[256];
  __shared__ unsigned short cnt[16][66];
  __shared__ unsigned start[17];
  __shared__ unsigned short sorted[256];
  __shared__ float2 pay[256];
  const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y, bd = blockDim.x * blockDim.y;
  for (unsigned i = tid; i < 256; i += bd) {
    unsigned s = (i * 7 + 3 + blockIdx.x) & 1023;
    unsigned char fl = (s % n) == 0 || (s & 12) == 8;
    flag[i] = fl; scan[i + (i >> 5)] = fl;
    keys[i] = (unsigned char)(((i * i) >> 3) & 15);
    pay[i] = make_float2((float)src[i], f);
  }
  for (unsigned i = tid; i < 16 * 66; i += bd) (&cnt[0][0])[i] = 0;

  unsigned off = 1;
  for (unsigned d = 128; d > 0; d >>= 1, off <<= 1) {
    __syncthreads();
    for (unsigned t = tid; t < d; t += bd) {
      unsigned a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
      scan[b + (b >> 5)] += scan[a + (a >> 5)];
    }
  }
  __syncthreads();
  const unsigned total = scan[255 + 7];
  __syncthreads();
  if (tid == 0) scan[255 + 7] = 0;
  for (unsigned d = 1; d < 256; d <<= 1) {
    off >>= 1;
    __syncthreads();
    for (unsigned t = tid; t < d; t += bd) {
      unsigned a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
      a += a >> 5; b += b >> 5;
      unsigned x = scan[a]; scan[a] = scan[b]; scan[b] += x;
    }
  }
  __syncthreads();
  for (unsigned i = tid; i < 256; i += bd)
    if (flag[i]) list[scan[i + (i >> 5)]] = (unsigned short)i;
  __syncthreads();
  float acc = 0;
  for (unsigned j = tid; j < total; j += bd) {           // last trip is partial
    unsigned e = list[j];
    acc += pay[(e * 2) & 255].x + pay[e].y;
  }

  // counting sort: 64 virtual threads, four keys each
  for (unsigned t = tid; t < 64; t += bd)
    for (unsigned q = 0; q < 4; ++q) cnt[keys[4 * t + q]][t]++;
  __syncthreads();
  if (tid < 16) {
    unsigned run = 0;
    for (unsigned t = 0; t < 64; ++t) { unsigned c = cnt[tid][t]; cnt[tid][t] = (unsigned short)run; run += c; }
    start[tid + 1] = run;
  }
  __syncthreads();
  if (tid == 0) { start[0] = 0; for (int d = 0; d < 16; ++d) start[d + 1] += start[d]; }
  __syncthreads();
  for (unsigned t = tid; t < 64; t += bd)
    for (unsigned q = 0; q < 4; ++q) {
      unsigned k = keys[4 * t + q];
      unsigned p = start[k] + cnt[k][t]++;
      sorted[p & 255] = (unsigned short)(4 * t + q);
    }
  __syncthreads();
  const unsigned d = (tid + n) & 15;
  for (unsigned p = start[d]; p < start[d + 1]; ++p) acc += pay[sorted[p & 255] & 255].x;
  if (tid < total) acc += pay[sorted[list[tid & 255] & 255] & 255].y;
  out[(blockIdx.x * 256 + tid) & 4095] = __float_as_uint(acc);
}
