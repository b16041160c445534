// launch 1 32 n=3
// launch 2 5x7x3 n=130
// launch 1 77 n=65535
// launch 3 16x4 n=4294967295
// SIMD and scalar video instructions: saturation of mixed signedness, carries that must not leave a byte,
// selectors that sign-extend, destinations merged in part, secondary add/min of a wrapped sum, shifts clamped or
// wrapped.
#define BANK0(v) acc += s[((v) & 31) * 32]
#define WORD(v) acc += s[(v) & 1023]
extern "C" __global__ void k9825(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned s[1024];
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0, r, c;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (unsigned k = t; k < 1024; k += size) s[k] = k * 5 + 1;
  __syncthreads();
  unsigned g = t + blockIdx.x * 37;
  unsigned a = t * 0x01030507u + n, b = (g * 0x7f81ff02u) ^ 0x80007fffu;
  // Sums whose bytes or halves carry or clamp.
  BANK0(__vadd4(a, b) >> 14);
  BANK0(__vaddss2(t * 0x04000400u, 0x7000f000u) >> 25);
  BANK0(__vsubus4(t * 0x08040201u, 0x30203010u) >> 17);
  BANK0(__vsubss4(0x80ff7f01u, t * 0x05fb0905u) >> 3);
  BANK0(__vsetgts4(a, b) * 0x01010101u >> 24);
  BANK0(__vcmpleu2(t * 0x08000100u, 0x8000u + n * 0x10000u) >> (t & 15));
  BANK0(__vhaddu2(a, b) >> 7);
  BANK0(__vabsdiffs4(t * 0x10f00811u, 0x80807f00u) >> 18);
  BANK0(__vsads2(t * 0x20008001u, 0x7fff8000u) >> 9);
  BANK0(__vabsss4(0x80000000u - t * 0x04040404u) >> 26);
  BANK0(__vnegss2(0x80018000u + (t & 3) * 0xffffu) >> 14);
  // Scalar forms: byte and half selectors, saturation to the destination, a merged destination.
  c = t * 0x00110101u;
  asm volatile("vadd.s32.u32.s32.sat.add %0, %1.b1, %2.b3, %3;" : "=r"(r) : "r"(t * 0x2b00u), "r"(b), "r"(c));
  BANK0(r);
  asm volatile("vsub.u32.s32.u32.sat %0, %1.h1, %2.b0;" : "=r"(r) : "r"(t * 0x00050000u - 0x400000u), "r"(n));
  BANK0(r);
  asm volatile("vadd.u32.s32.s32.sat %0.b2, %1.b0, %2.h0, %3;" : "=r"(r) : "r"(t * 9), "r"(t - 20), "r"(0x01020304u));
  BANK0(r >> 15);
  asm volatile("vabsdiff.u32.s32.u32.max %0, %1.b0, %2.b1, %3;" : "=r"(r) : "r"(t * 13), "r"(b), "r"(t ^ 21));
  BANK0(r);
  asm volatile("vmad.s32.u32.s32.sat.shr7 %0, %1.b2, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(t << 20));
  BANK0(r >> 5);
  asm volatile("vset.u32.s32.lt.add %0, %1.b0, %2.b3, %3;" : "=r"(r) : "r"(t * 17), "r"(n << 23), "r"(t & 7));
  BANK0(r);
  asm volatile("vshl.u32.u32.u32.clamp.add %0, %1.h0, %2.b0, %3;" : "=r"(r) : "r"(t | 1), "r"(t * 3), "r"(t));
  BANK0(r >> (t & 1));
  asm volatile("vshr.s32.s32.u32.wrap.min %0, %1, %2.b1, %3;" : "=r"(r)
               : "r"(0x80000000u + t), "r"(t * 0x180u), "r"(t));
  WORD(r >> 4);
  asm volatile("vadd4.u32.s32.s32.sat %0.b20, %1.b7531, %2.b0123, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(t * 0x101u));
  BANK0(r >> 12);
  asm volatile("vabsdiff4.s32.u32.s32.add %0.b310, %1.b3210, %2.b3210, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(t * 3));
  BANK0(r);
  WORD(__vmaxs2(src[g & 1023] * 0x10001u, 0x00408000u) >> 1);
  out[(g * 3) & 1023] = acc;
}
