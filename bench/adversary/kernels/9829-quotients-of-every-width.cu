// launch 1 32 n=5
// launch 3 3x11 n=4294967289
// launch 1 5x7x3 n=2147483648
// launch 2 70 n=65521
// Division and modulo of 8 to 64 bits of either sign, negative operands, divisors by lane (64-bit quotients of
// which some lanes take the short way), high products, mul24 of operands with rubbish on top, carries through 128
// bits.
#define BANK0(v) acc += s[((unsigned)(v) & 31) * 32]
extern "C" __global__ void k9829(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned s[1024];
  __shared__ unsigned char bytes[2048];
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0, r, q;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 23;
  for (unsigned k = t; k < 1024; k += size) s[k] = k * 3;
  for (unsigned k = t; k < 2048; k += size) bytes[k] = (unsigned char)k;
  __syncthreads();
  int i = (int)t - 17;
  signed char c = (signed char)(t * 11 + n);
  short h = (short)(t * 2111 - n);
  BANK0(c / 3 + c % 7 * 2);
  signed char quotient = (signed char)(c / (signed char)(i | 1));
  BANK0(h / (short)(i * 5 + 1 | 2) + quotient * 3);
  BANK0((unsigned short)h % (unsigned short)(t + 3));
  BANK0(i / -4 * 3 + i % -5);
  int big = (int)((unsigned)i * 0x07654321u);
  BANK0(big % (int)(n % 1000 + 1) + big / (1 << 26));
  BANK0((unsigned)i / (n | 1) + (unsigned)i % 27u * 3);
  long long a = (long long)i * 0x123456789abll, b = (long long)(t & 1 ? i | 1 : (i | 1) * 0x300000001ll);
  BANK0(a / b);
  BANK0(a % b);
  BANK0((t & 2 ? (unsigned long long)a : (unsigned long long)t * 1001) / (t & 4 ? n | 1ull : ~0ull - n) + t % 3);
  BANK0((unsigned long long)a % (0x8000000000000001ull + t) >> 17);
  BANK0(a % 1000 + ((int)(a / -7) >> 3));
  acc += bytes[(unsigned)((unsigned long long)a % 1999) & 2047];
  unsigned short u;
  asm volatile("rem.s16 %0, %1, %2;" : "=h"(u) : "h"(h), "h"((short)(i * 2 + 1)));
  BANK0(u);
  asm volatile("mul.hi.s16 %0, %1, %2;" : "=h"(u) : "h"(h), "h"((short)(t * 999)));
  BANK0(u >> 1);
  asm volatile("mad.wide.s16 %0, %1, %2, %3;" : "=r"(r) : "h"(h), "h"((short)i), "r"(t));
  BANK0(r >> 6);
  asm volatile("mul24.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(0x7b800000u + t * 0x10001u), "r"(0xff123456u - t));
  unsigned m = r >> 14;
  asm volatile("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(0xab000000u + t), "r"(t * 0x01010101u));
  BANK0(m + r);
  asm volatile("mad24.hi.sat.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(t << 18), "r"(0x7fffff), "r"(0x7fffff00));
  m = r >> 2;
  asm volatile("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(t * 0x09000000u), "r"(0x70000000), "r"(0x60000000));
  BANK0(m ^ (r >> 26));
  asm volatile("{ .reg .u32 z; mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5; addc.u32 z, 0, %1;"
               " add.u32 %1, z, %0; }" : "=&r"(q), "=&r"(r)
               : "r"(~t), "r"(0x9e3779b9u), "r"(t << 30), "r"(0x61c88646u));
  BANK0(r * 3 + (q >> 13));
  asm volatile("{ sub.cc.u32 %0, %2, %3; subc.cc.u32 %1, 3, %2; subc.u32 %0, 0, 0; }"
               : "=&r"(q), "=&r"(r) : "r"(t & 7), "r"(t >> 2));
  BANK0(q * 16 + r);
  BANK0(__umul64hi((unsigned long long)a, 0xfffffffffffffff1ull) + __mul64hi(a, b * 0x10001) * 3);
  BANK0(__mulhi((int)((unsigned)i << 27), 0x70000001) >> 24);
  BANK0((int)((float)i / 3.0f));
  acc += s[src[g & 1023] * 37 % (t + 61) & 1023];
  out[g & 1023] = acc;
}
