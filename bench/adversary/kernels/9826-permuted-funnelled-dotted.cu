// launch 1 32 n=4
// launch 2 3x5x7 n=37
// launch 1 96 n=2147483651
// launch 1 50 n=255
// prmt with the sign bit of its selectors and its six modes, selectors by lane with rubbish above; dot products of
// mixed signedness that wrap; shifts and funnels of 16, 32 and 64 bits by amounts at and past the width, clamped
// or wrapped.
#define BANK0(v) acc += s[((v) & 31) * 32]
#define PRMT(mode, a, b, c) asm volatile("prmt.b32" mode " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c))
extern "C" __global__ void k9826(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned s[1024];
  __shared__ unsigned long long wide[512];
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0, r;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 11;
  for (unsigned k = t; k < 1024; k += size) s[k] = k ^ 0x155;
  for (unsigned k = t; k < 512; k += size) wide[k] = k * 0x100000001ull;
  __syncthreads();
  unsigned a = 0x8305017fu + t * 0x01000201u, b = 0x19ff8260u ^ (g * 0x00070003u);
  PRMT("", a, b, t * 0x10305u + 0xabcd0000u);
  BANK0(r >> 2);
  PRMT("", a, b, (t * 0x1111u) ^ 0x8888u);
  BANK0((r >> 7) + (r >> 29));
  PRMT(".f4e", a, b, t + 0x7fffff0u);
  unsigned m = r >> 9;
  PRMT(".b4e", a, b, t | 0x40u);
  BANK0(m + (r >> 11) * 3);
  PRMT(".rc8", a, b, t * 5);
  BANK0(r >> 3);
  PRMT(".ecl", a, b, ~t);
  BANK0(r >> 14);
  PRMT(".ecr", a, b, t - 7);
  BANK0(r >> 6);
  PRMT(".rc16", a, b, t * 3 + 1);
  BANK0(r >> 10);
  BANK0(__byte_perm(t * 0x04040404u, n, 0xc840u + (t & 3)) >> 4);
  BANK0(__dp4a((int)a, (int)b, (int)(0x7fffff00u + t * 16)) >> 5);
  BANK0(__dp4a(a, b, 0xffff8000u) >> 6);
  asm volatile("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(t - 3000));
  BANK0(r >> 7);
  asm volatile("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(n));
  BANK0(r >> 12);
  asm volatile("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(~t));
  BANK0(r >> 13);
  BANK0(__funnelshift_l(a, b, t * 3 + 20));
  BANK0(__funnelshift_rc(t * 8, ~t, t + n % 40));
  BANK0(__funnelshift_r(t << 27, t * 0x9e3779b9u, t * 7 - 3));
  // The funnels in the other forms: a 64-bit shift by lane, up to and past 63, and negative amounts as unsigned.
  unsigned long long d = ((unsigned long long)a << 32) | b, e;
  asm volatile("shr.s64 %0, %1, %2;" : "=l"(e) : "l"(d), "r"(t * 3));
  BANK0((unsigned)e + (unsigned)(e >> 33));
  asm volatile("shl.b64 %0, %1, %2;" : "=l"(e) : "l"(d), "r"(t < 40 ? t * 2 : 0u - t));
  acc += (unsigned)(wide[(unsigned)(e >> 31) & 511] >> 32);
  unsigned short h, i = (unsigned short)(0x8421u + t * 0x111u);
  asm volatile("shr.s16 %0, %1, %2;" : "=h"(h) : "h"(i), "r"(t));
  BANK0(h);
  asm volatile("shl.b16 %0, %1, %2;" : "=h"(h) : "h"(i), "r"(t ^ 16));
  BANK0((unsigned)h >> 11);
  asm volatile("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(0xf0000000u + t), "r"(t * 0x40000001u + (t & 31)));
  BANK0(r);
  __syncthreads();
  wide[(__byte_perm(src[g & 1023], t, 0x4140) >> (t & 1)) & 511] = e;
  out[g & 1023] = acc;
}
