// launch 1 32 n=2
// launch 2 5x7x3 n=7
// launch 1 90 n=1
// launch 1 8x9 n=3
// Recursion to depths that differ by lane and by warp, in which the callee writes its caller's frame; mutual
// recursion through a table of functions; frames of a size that differs by lane (alloca), reused by the next call;
// shared memory read at each depth, on the way down and on the way up.
#define BANK0(v) acc += s[((unsigned)(v) & 31) * 32]
__shared__ unsigned s[1024];
__noinline__ __device__ unsigned deep(unsigned* caller, unsigned depth, unsigned t) {
  unsigned own[4];
  for (unsigned k = 0; k < 4; k++) own[k] = caller[(k + t) & 3] + depth;
  if (depth == 0) {
    caller[t & 3] += 7;
    return s[(own[t & 3] & 31) * 32] & 1;
  }
  unsigned r = deep(own, depth - 1, t * 3 + 1);
  caller[(r + depth) & 3] ^= own[t & 3];
  unsigned z = s[(own[(t + 1) & 3] & 15) * 32 + depth] & 1;
  return r + z * 2 + own[depth & 3];
}
typedef unsigned (*Step)(unsigned*, int, signed char);
__noinline__ __device__ unsigned even(unsigned* sum, int left, signed char x);
__noinline__ __device__ unsigned odd(unsigned* sum, int left, signed char x);
__device__ const Step steps[2] = {even, odd};
__noinline__ __device__ unsigned even(unsigned* sum, int left, signed char x) {
  if (left <= 0) return (unsigned)(int)x;
  unsigned mine = *sum + (unsigned)x;
  unsigned r = steps[left & 1](&mine, left - 1, (signed char)(x * 3));
  *sum = mine + r;
  return r + 1;
}
__noinline__ __device__ unsigned odd(unsigned* sum, int left, signed char x) {
  if (left <= 0) return ~(unsigned)(int)x;
  *sum ^= s[((unsigned)(x + left) & 31) * 32 + (left & 1)] & 3;
  unsigned r = steps[(left ^ x) & 1](sum, left - 2, (signed char)(x - 50));
  return r * 2 + *sum;
}
__noinline__ __device__ unsigned framed(unsigned t, unsigned words) {
  unsigned* a = (unsigned*)__builtin_alloca(words * 4);
  unsigned char* b = (unsigned char*)__builtin_alloca(8 + (t & 3) * 4);
  for (unsigned k = 0; k < words; k++) a[k] = k * t;
  for (unsigned k = 0; k < 8 + (t & 3) * 4; k++) b[k] = (unsigned char)(200 + k * 9 - t);
  a[words - 1] = b[7 + (t & 3) * 4];
  b[t & 7] = (unsigned char)a[t % words];
  return a[(t * 5) % words] + b[(t + 3) & 7] * 3;
}
__noinline__ __device__ unsigned nested(unsigned t, int depth, unsigned* up) {
  unsigned words = 1 + ((t + depth) & 3);
  unsigned* a = (unsigned*)__builtin_alloca(words * 4);
  for (unsigned k = 0; k < words; k++) a[k] = t * 3 + k + up[0];
  if (depth > 0) a[words - 1] += nested(t, depth - 1, a + words - 1);
  up[0] += a[0];
  return s[((a[words - 1] + up[0]) & 31) * 32] + a[0];
}
extern "C" __global__ void k9832(unsigned* out, const unsigned* src, unsigned n, float f) {
  unsigned size = blockDim.x * blockDim.y * blockDim.z, acc = 0;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = t + blockIdx.x * 17;
  for (unsigned k = t; k < 1024; k += size) s[k] = k * 5 / 3;
  __syncthreads();
  unsigned base[4] = {t, n, t * 5, t ^ 3};
  unsigned r = deep(base, n & 3, t);
  BANK0(r);
  __syncwarp();
  BANK0(base[t & 3]);
  r = deep(base, t & 3, t + n);
  __syncwarp();
  BANK0(r + base[(t + 1) & 3]);
  r = deep(base, t / 32 & 3, t * 2);
  BANK0(r * 3 + base[2]);
  unsigned sum = t;
  r = odd(&sum, 4, (signed char)(t * 9));
  __syncwarp();
  BANK0(r + sum);
  r = even(&sum, (int)(t % 5) - 1, (signed char)(t + 120));
  __syncwarp();
  BANK0(r ^ sum);
  r = framed(t, 1 + n % 5);
  BANK0(r);
  r = framed(t, 2 + t % 4);
  __syncwarp();
  BANK0(r);
  r = framed(t + 1, 3) + framed(t, 1);
  BANK0(r);
  unsigned top = t & 7;
  r = nested(t, n & 3, &top);
  BANK0(r + top);
  r = nested(t, t & 1, &top);
  __syncwarp();
  BANK0(r + top * 2);
  __syncthreads();
  s[(top * 32 + src[g & 1023]) & 1023] = r;
  out[g & 1023] = acc;
}
