// launch 1 48 n=4
// launch 2 96 n=7
// launch 1 32x4x2 n=3
// ldmatrix x1/x2/x4 with and without trans, swizzled, unswizzled, broadcast rows, row offsets from a shared table, unrelated addresses in the lanes which x1/x2 ignore; fragments used as indices; stmatrix then narrower reads
extern "C" __global__ void k10078(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(128) unsigned short tile[64 * 64];
  __shared__ __align__(16) unsigned short st[8][16 * 24];
  __shared__ unsigned short rowoff[32];
  __shared__ unsigned look[512];
  const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned bd = blockDim.x * blockDim.y * blockDim.z;
  const unsigned lane = tid & 31, warp = tid >> 5;
  for (unsigned i = tid; i < 64 * 64; i += bd) {
    unsigned r = i >> 6, c = i & 63;
    tile[(r << 6) + (((c >> 3) ^ (r & 7)) << 3) + (c & 7)] = (unsigned short)((r * 9 + c * 5 + blockIdx.x) & 511);
  }
  for (unsigned i = tid; i < 512; i += bd) look[i] = src[i];
  for (unsigned i = tid; i < 8 * 16 * 24; i += bd) (&st[0][0])[i] = (unsigned short)i;
  if (tid < 32) rowoff[31 - tid] = (unsigned short)(((tid * 11) & 63) * 128 + ((tid & 5) << 4));
  __syncthreads();
  unsigned acc = 0;
  if (warp < (bd >> 5)) {                                   // full warps only
    const unsigned T = (unsigned)__cvta_generic_to_shared(tile);
    const unsigned S = (unsigned)__cvta_generic_to_shared(&st[warp][0]);
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (unsigned k = 0; k < n; ++k) {
      unsigned a0, a1, a2, a3, b0, b1, c0, e0, e1, e2, e3;
      unsigned row = (lane & 15) + 16 * (k & 3), ch = ((lane >> 4) + 2 * k + warp) & 7;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(T + row * 128 + ((ch ^ (row & 7)) << 4)) : "memory");
      unsigned br = (lane & 7) * (1 + (k & 7)), bc = (lane >> 3) & 1;     // lanes 16-31 of x2 are ignored
      unsigned ba = lane < 16 ? T + br * 128 + (bc << 4) : T + ((lane * 3) & 7) * 16;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
        : "=r"(b0), "=r"(b1) : "r"(ba) : "memory");
      unsigned ca = T + ((lane & k) & 63) * 128 + ((lane >> 1) & 3) * 16;   // repeated rows
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(c0) : "r"(ca) : "memory");
      unsigned ea = T + rowoff[(lane + k) & 31];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(e0), "=r"(e1), "=r"(e2), "=r"(e3) : "r"(ea) : "memory");
      acc += look[a0 & 511] + look[(c0 >> 16) & 511];                       // fragment values as indices
      acc ^= look[(e1 + k) & 511] + e0 + e2 + e3;
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
      // own warp's region, 48-byte rows
      unsigned sa = S + (lane & 15) * 48 + (lane >> 4) * 16;
      if (k & 1)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
          :: "r"(sa), "r"(a0), "r"(a1), "r"(a2), "r"(a3) : "memory");
      else
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};"
          :: "r"(S + ((lane * 5) & 15) * 48), "r"(e0), "r"(e1) : "memory");
      __syncwarp();
      unsigned x = st[warp][(lane >> 1) * 24 + (lane & 1) * 8 + (k & 7)];   // what stmatrix wrote or the start value
      acc += look[x & 511];
      acc += *reinterpret_cast<const unsigned*>(&st[warp][(lane & 15) * 24 + (lane >> 4) * 2]);
      __syncwarp();
    }
    acc += __float_as_uint(d0 + d1 * f + d2 + d3);
  }
  out[(blockIdx.x * 256 + tid) & 4095] = acc;
}
