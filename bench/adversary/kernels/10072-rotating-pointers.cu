// launch 1 48 n=5
// launch 3 8x4x3 n=7
// launch 2 200 n=4
// triple buffer with rotating (pointer,stride) registers, a ring in a local array, pointers and 32-bit offsets kept in shared memory, and a linked list chased to a lane-dependent length
struct Node { unsigned short next; unsigned short val; unsigned pay; };

extern "C" __global__ void k10072(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ float pool[784];
  __shared__ __align__(16) unsigned words[160];
  __shared__ unsigned* ptab[64];
  __shared__ unsigned offs[64];
  __shared__ Node nodes[128];
  const unsigned bd = blockDim.x * blockDim.y * blockDim.z;
  const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (unsigned i = tid; i < 784; i += bd) pool[i] = f * (float)(i & 31);
  for (unsigned i = tid; i < 160; i += bd) words[i] = src[i];
  for (unsigned i = tid; i < 64; i += bd) {
    ptab[i] = words + ((i * 9 + n) & 127);
    offs[i] = (unsigned)__cvta_generic_to_shared(words) + (((i * 7 + blockIdx.x) & 63) << 3);
  }
  for (unsigned i = tid; i < 128; i += bd) {
    Node nd; nd.next = (unsigned short)((i * 5 + 13) & 127); nd.val = (unsigned short)(i & 7); nd.pay = src[i + 9];
    nodes[i] = nd;
  }
  __syncthreads();

  float *cur = pool, *nxt = pool + 257, *prv = pool + 518;
  unsigned sc = 1, sn = 2, sp = 5;
  for (unsigned it = 0; it < n; ++it) {
    float v = cur[(tid * sc) & 255] + prv[(tid * sp + it) & 255];
    nxt[(tid * sn) & 255] = v * f;
    __syncthreads();
    float* t = prv; prv = cur; cur = nxt; nxt = t;
    unsigned s = sp; sp = sc; sc = sn; sn = s + 1;
  }

  float* ring[5] = {pool, pool + 3, pool + 96, pool + 300, pool + 511};
  unsigned head = blockIdx.x, acc = __float_as_uint(cur[tid & 255]);
#pragma unroll 1
  for (unsigned it = 0; it < n; ++it) {
    float* p = ring[head % 5];
    acc += __float_as_uint(p[(tid * (head + 1)) & 255]);
    ring[(head + 2) % 5] = p + ((it & 1) ? 1 : 0);       // pointers drift by at most a few words
    head += 3;
  }

  for (unsigned k = 0; k < n; ++k) {
    unsigned* q = ptab[(tid + 5 * k) & 63];
    acc += q[k & 15];
    unsigned a, b;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(offs[(tid * 3 + k) & 63]) : "memory");
    acc ^= a + b;
  }

  unsigned at = tid & 127;                               // ends: the low three bits run through all 8 values
  while (nodes[at].val != 3) { acc += nodes[at].pay; at = nodes[at].next; }
  acc += at;
  out[(blockIdx.x * 256 + tid) & 4095] = acc;
}
