// launch 1 128 n=5
// launch 2 100 n=8
// launch 3 8x4x5 n=7
// launch 1 32x6 n=12
// Warps that leave, producers and consumers with named barriers whose ids and counts are in registers, three
// buffers that are rewritten, results of bar.red over a part of the block as addresses.
extern "C" __global__ void k9834(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned buf[3][512];
  __shared__ unsigned data[1024];
  __shared__ unsigned short work[8][66];
  unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), l = t & 31, acc = 0, r;
  for (unsigned i = t; i < 1024; i += nt) data[i] = i ^ (i >> 3);
  for (unsigned i = t; i < 8 * 66; i += nt) ((unsigned short*)work)[i] = (unsigned short)(i * 9);
  __syncthreads();
  unsigned warps = nt >> 5, w = __shfl_sync(t < warps * 32 ? ~0u : (1u << (nt & 31)) - 1, t >> 5, 0);
  if (w >= warps) { out[t & 1023] = data[t * 2 & 1023]; return; }
  if ((n & 4) && warps > 3) {
    if (w == warps - 1) { out[t & 1023] = data[t * 4 & 1023]; return; }
    --warps;
  }
  unsigned np = 1 + (n & 1), nc = warps - np, all = warps * 32;
  if (w < np) {
    for (unsigned k = 0, b = 0; k < n; ++k) {
      asm volatile("bar.sync %0, %1;" :: "r"(4 + b), "r"(all) : "memory");
      for (unsigned i = t; i < 512; i += np * 32) buf[b][(i * 5 + k) & 511] = (i * (2 * k + 1) + np) & 1023;
      asm volatile("bar.arrive %0, %1;" :: "r"(1 + b), "r"(all) : "memory");
      if (++b == 3) b = 0;
    }
    unsigned p;
    asm volatile("{ .reg .pred a, b; setp.lt.u32 a, %1, 40; bar.red.and.pred b, 9, %2, a; selp.u32 %0, 3, 5, b; }"
                 : "=r"(p) : "r"(t), "r"(np * 32) : "memory");
    acc += data[(t * p) & 1023];
  } else {
    unsigned c = t - np * 32, cw = w - np;
    for (unsigned k = 0; k < 3 && k < n; ++k) asm volatile("bar.arrive %0, %1;" :: "r"(4 + k), "r"(all) : "memory");
    for (unsigned k = 0, b = 0; k < n; ++k) {
      asm volatile("bar.sync %0, %1;" :: "r"(1 + b), "r"(all) : "memory");
      unsigned x = buf[b][(c * 8 + k) & 511];
      acc += data[x * 2 & 1023];
      unsigned y = buf[b][(x ^ l) & 511];
      if (k + 3 < n) asm volatile("bar.arrive %0, %1;" :: "r"(4 + b), "r"(all) : "memory");
      work[cw][(l * 2 + (y & 1)) % 66] = (unsigned short)y;
      __syncwarp();
      acc += data[work[cw][(31 - l) * 2] & 1023];
      asm volatile("{ .reg .pred a; setp.eq.u32 a, %1, 0; bar.red.popc.u32 %0, %2, %3, a; }"
                   : "=r"(r) : "r"(x & 12), "r"(8 + (k & 1) * 2), "r"(nc * 32) : "memory");
      acc += data[(l * (r & 31)) & 1023];
      b = b == 2 ? 0 : b + 1;
    }
  }
  asm volatile("bar.sync 15, %0;" :: "r"(all) : "memory");
  acc += data[(work[(w + 1) % nc][l * 2] * 4) & 1023] + ((unsigned short*)work)[(t * 33) % 528];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
