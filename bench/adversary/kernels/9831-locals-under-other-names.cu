// launch 1 32 n=6
// launch 2 5x7x3 n=45
// launch 1 100 n=300
// launch 3 11x4 n=4294967295
// Locals by lane-dependent index: written as bytes and read as words, halves, quads; in one branch only; through
// pointers that may name the same word (a swap of a word with itself clears it), a table of pointers, and a
// pointer that is to a local in one warp and to shared memory in the next.
#define BANK0(v) acc += s[((unsigned)(v) & 31) * 32]
union Cell { unsigned w[8]; short h[16]; unsigned char b[32]; unsigned long long d[4]; uint4 q[2]; float x[8]; };
struct Part { signed char c; short h; unsigned w; unsigned char tail[5]; };
__shared__ unsigned s[1024];
__noinline__ __device__ void swapped(unsigned* a, unsigned* b) { *a ^= *b; *b ^= *a; *a ^= *b; }
__noinline__ __device__ void bytewise(unsigned char* p, unsigned from, unsigned step) {
  for (unsigned k = 0; k < 12; k++) p[(from + k * step) & 31] += (unsigned char)(k * 21 + from);
}
__noinline__ __device__ Part changed(Part p, Part* other, unsigned t) {
  other->h = (short)(p.h - t);
  p.c += other->c;
  p.tail[t % 5] ^= 0x1f;
  return p;
}
extern "C" __global__ void k9831(unsigned* out, const unsigned* src, unsigned n, float f) {
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 13;
  for (unsigned k = t; k < 1024; k += size) s[k] = k * 7 & 1023;
  __syncthreads();
  Cell u;
  for (unsigned k = 0; k < 8; k++) u.w[k] = k * 0x01020304u + n;
  bytewise(u.b, t, 5);
  BANK0(u.w[t & 7] >> 6);
  BANK0(u.h[(t * 3) & 15] >> 9);
  u.b[(t * 7) & 31] = 0x85;
  BANK0(u.w[(t * 7 >> 2) & 7] >> (t & 3) * 8);
  if (t % 3 == 1) u.h[t & 15] = (short)(t * 0x101);
  BANK0(u.b[(t * 2 + 1) & 31]);
  if (t & 32) u.q[t >> 1 & 1] = make_uint4(t, t * 2, t * 3, ~t);
  BANK0(u.d[t & 3] >> (t & 7) * 4);
  u.x[t & 7] = f * (float)t;
  BANK0(u.b[((t & 7) * 4 + 2) & 31] >> 2);
  unsigned long long* odd = &u.d[(t >> 2) & 3];
  *(unsigned char*)odd = 3;
  *odd += 0xfeull;
  BANK0(*(unsigned*)odd + (u.h[((t >> 2) & 3) * 4] << 1));
  // A walk in which each index comes from a byte that the trip before may have written.
  unsigned at = t;
  for (unsigned k = 0; k < 9; k++) { u.b[at & 31] += (unsigned char)(k + 1); at = u.b[(at + k) & 31] + u.b[at & 31]; }
  BANK0(at);
  unsigned two[4] = {t * 5, n + 1, t ^ 9, 17}, *table[3] = {two + 1, &u.w[5], two + 3};
  swapped(two + (t & 3), two + (t * 3 & 3));
  BANK0(two[t & 1]);
  swapped(table[t % 3], table[(t / 3) % 3]);
  BANK0(u.w[5] + two[3] + two[1]);
  *table[(t + 1) % 3] = t & 7;
  BANK0(two[3] * 5 + two[1]);
  Part parts[3];
  for (unsigned k = 0; k < 3; k++) {
    parts[k].c = (signed char)(t * 37 + k); parts[k].h = (short)(n * k); parts[k].w = t << k;
    for (unsigned j = 0; j < 5; j++) parts[k].tail[j] = (unsigned char)(t * j + k);
  }
  parts[t % 3] = changed(parts[(t + 1) % 3], &parts[t & 1], t);
  BANK0(parts[0].h + parts[1].c + parts[2].tail[t % 5]);
  BANK0(parts[(t * 2) % 3].tail[(t + 3) % 5] ^ parts[t & 1].h);
  // Negative indices from the middle, of a signed byte.
  signed char spread[16], *middle = spread + 8;
  for (int k = -8; k < 8; k++) middle[k] = (signed char)(k * 19);
  middle[(signed char)(t * 5 << 4) >> 5] = (signed char)(t + 100);
  BANK0(middle[(int)(t & 15) - 8] + middle[(int)(t % 9) - 8]);
  // A pointer to a local in even warps, to shared memory in odd ones: loads and stores of both kinds.
  unsigned* either = t & 32 ? s + 512 + t * 4 : two;
  BANK0(either[t & 3]);
  volatile unsigned* sure = t / 32 & 1 ? s + (t * 8 & 1023) : &two[t & 3];
  acc += *sure;
  either[(t + 1) & 3] = t * 3;
  BANK0(two[(t + 1) & 3]);
  unsigned low, high;
  asm volatile("{ .local .align 8 .b8 frame[16]; .reg .u64 a; mov.u64 a, frame; st.local.v2.u32 [a], {%2, %3};"
               " st.local.u8 [a+3], %2; st.local.u16 [a+6], %2; st.local.u32 [a+12], %3; "
               " ld.local.v2.u32 {%0, %1}, [a]; }"
               : "=r"(low), "=r"(high) : "r"(t), "r"(n) : "memory");
  BANK0((low >> 23) + (high >> 15));
  acc += s[(src[g & 1023] * 32 + two[t & 3]) & 1023];
  out[g & 1023] = acc;
}
