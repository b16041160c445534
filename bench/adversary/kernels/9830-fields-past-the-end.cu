// launch 1 32 n=9
// launch 2 5x7x3 n=200
// launch 1 45 n=2863311530
// launch 2 16x4 n=31
// bfe/bfi of length 0, of position or length past 31 or 255, by lane; bfind/clz/ffs/fns of zero; bmsk, szext, sad,
// lop3; bit fields of either sign over word borders, kept in locals and in shared memory, written in part by some
// lanes.
#define BANK0(v) acc += s[((unsigned)(v) & 31) * 32]
struct Fields {
  int a : 3; unsigned b : 7; int c : 11; unsigned d : 13; int : 0;
  signed char e : 5; long long x : 37;
};
extern "C" __global__ void k9830(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned s[1024];
  __shared__ Fields kept[128];
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0, r, m;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 29;
  for (unsigned k = t; k < 1024; k += size) s[k] = k;
  __syncthreads();
  unsigned a = t * 0x9e3779b1u ^ n;
  unsigned long long w = (unsigned long long)a * 0x1000000ull + t, v;
  asm volatile("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(t * 2), "r"(t % 9));
  m = r;
  asm volatile("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(t + 0x100), "r"(t + 0x1fe));
  BANK0(m * 3 + (r ^ (r >> 9)));
  asm volatile("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(0x80000000u >> (t & 3)), "r"(25 + t), "r"(t & 1 ? 255 : 3));
  BANK0(r);
  asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(v) : "l"(w), "r"(t * 3), "r"(t ^ 3));
  BANK0(v + (v >> 40));
  asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(t * 3), "r"(28 - t), "r"(t + 1));
  m = r;
  asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(~t), "r"(t & 3 ? t & 7 : t << 8), "r"(40 - t));
  BANK0(r + (m >> 27));
  asm volatile("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(v) : "l"(w), "l"(w * 5), "r"(60 - t), "r"(t + 9));
  BANK0(v >> 30);
  asm volatile("bfind.s32 %0, %1;" : "=r"(r) : "r"((t >> 1) - 3));
  m = r * 3;
  asm volatile("bfind.shiftamt.u64 %0, %1;" : "=r"(r) : "l"(t % 6 == 5 ? 0ull : w >> (t & 63)));
  BANK0(m + r);
  asm volatile("{ .reg .b32 k; bmsk.clamp.b32 k, %1, %2; szext.wrap.s32 %0, %3, %1; xor.b32 %0, %0, k; }"
               : "=&r"(r) : "r"(t + 3), "r"(t * 2), "r"(a));
  m = r >> 3;
  asm volatile("{ .reg .b32 k; bmsk.wrap.b32 k, %1, %2; szext.clamp.u32 %0, %3, %1; add.u32 %0, %0, k; }"
               : "=&r"(r) : "r"(t * 5), "r"(t + 29), "r"(a));
  BANK0(m + (r >> 4));
  asm volatile("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(t & 31), "r"((int)(t % 7) - 3));
  BANK0(r * 5);
  asm volatile("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(t * 0x08000000u), "r"(0x7fffffff - n % 9), "r"(t));
  m = r >> 26;
  unsigned short h;
  asm volatile("sad.u16 %0, %1, %2, %3;" : "=h"(h) : "h"((short)(t * 3000)), "h"((short)n), "h"((short)t));
  BANK0(m ^ (h >> 4));
  asm volatile("lop3.b32 %0, %1, %2, %3, 0x2d;" : "=r"(r) : "r"(a), "r"(t * 0x2222u), "r"(n));
  BANK0(r >> 5);
  BANK0(__clz((t >> 2) << 3) + __ffs(t & ~5u) * 2 + __popcll(w | 1ull << 63));
  BANK0(__clzll(w * (t & 1)) ^ (__brev(t * 3) >> 25) ^ (int)(__brevll(w) >> 59));
  // Fields in a local, some of them written by some lanes; then all through shared memory.
  Fields here = {};
  here.a = t; here.b = t * 3 + n; here.c = (int)a >> 5;
  if (t % 3 == 1) { here.d = here.c; here.e = here.a * 7; }
  if (t & 32) here.x = (long long)here.c * -0x1234567ll; else here.b += here.d;
  here.a--;
  BANK0(here.a * 3 + here.b);
  BANK0(here.c ^ (int)here.e ^ (int)(here.x >> 31));
  kept[(t * 5) & 127] = here;
  kept[(t * 5) & 127].c += here.b;
  kept[(t * 5) & 127].x++;
  BANK0(kept[(t * 5) & 127].d + kept[(t * 5) & 127].c);
  s[(unsigned)kept[(t * 5) & 127].x * 8 + t & 1023] = (unsigned)kept[(t * 5) & 127].b;
  acc += s[(__popc(src[g & 1023]) * 32 + t) & 1023];
  out[g & 1023] = acc;
}
