// launch 1 64 n=5
// launch 2 50 n=6
// launch 1 5x7x3 n=9
// launch 1 160 n=8
// top-k of random numbers by a tournament tree of each lane's own (byte cells for winners, laid out by lane or by
// node), replayed along a path of the winner; Philox with mul.hi, bounded draws by a 64-bit product, a PCG with
// 64-bit state and rotation; lanes stop early
struct Philox {
  unsigned c[4], k0, k1;
  __device__ Philox(unsigned a, unsigned b, unsigned d, unsigned key) : c{a, b, d, 0x12345678u}, k0(key), k1(~key) {}
  __device__ uint4 draw() {
    unsigned x0 = c[0], x1 = c[1], x2 = c[2], x3 = c[3], a = k0, b = k1;
#pragma unroll 1
    for (int r = 0; r < 7; ++r) {
      unsigned h0 = __umulhi(0xD2511F53u, x0), l0 = 0xD2511F53u * x0;
      unsigned h1 = __umulhi(0xCD9E8D57u, x2), l1 = 0xCD9E8D57u * x2;
      x0 = h1 ^ x1 ^ a; x1 = l1; x2 = h0 ^ x3 ^ b; x3 = l0;
      a += 0x9E3779B9u; b += 0xBB67AE85u;
    }
    asm("add.cc.u32 %0, %0, 0xfffffff0;\n\taddc.cc.u32 %1, %1, 0;\n\taddc.u32 %2, %2, 1;"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]));
    return make_uint4(x0, x1, x2, x3);
  }
};
struct Pcg {
  unsigned long long state;
  __device__ unsigned next() {
    unsigned long long old = state;
    state = old * 6364136223846793005ull + 1442695040888963407ull;
    unsigned x = (unsigned)(((old >> 18) ^ old) >> 27), r = (unsigned)(old >> 59);
    return x >> r | x << (-r & 31);
  }
};
struct ByLane {
  __device__ static unsigned at(unsigned t, unsigned, unsigned i, unsigned width) { return t * (width + 1) + i; }
};
struct ByNode { __device__ static unsigned at(unsigned t, unsigned nt, unsigned i, unsigned) { return i * nt + t; } };

template <class Layout, int LEAVES> struct Tournament {
  unsigned* key;
  unsigned char* win;
  unsigned t, nt;
  __device__ unsigned& k(unsigned i) const { return key[Layout::at(t, nt, i, LEAVES)]; }
  __device__ unsigned char& w(unsigned i) const { return win[Layout::at(t, nt, i, LEAVES)]; }
  __device__ void play(unsigned node) const {
    unsigned a = node * 2, b = a + 1;
    a = a >= LEAVES ? a - LEAVES : w(a);
    b = b >= LEAVES ? b - LEAVES : w(b);
    w(node) = k(b) < k(a) ? b : a;
  }
  __device__ unsigned pop(unsigned next) const {
    unsigned i = w(1), top = k(i);
    k(i) = next;
    for (unsigned node = (i + LEAVES) >> 1; node; node >>= 1) play(node);
    return top;
  }
};

template <class Layout>
__device__ unsigned select(unsigned* key, unsigned char* win, unsigned* s, unsigned t, unsigned nt, unsigned n) {
  Tournament<Layout, 8> tree{key, win, t, nt};
  Philox rng(t, blockIdx.x, n, 0xcaffe123u);
  Pcg pcg{(unsigned long long)(t + 1) << 37 | n};
  unsigned acc = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 8; i += 4) {
    uint4 v = rng.draw();
    tree.k(i) = v.x; tree.k(i + 1) = v.y; tree.k(i + 2) = v.z; tree.k(i + 3) = v.w;
  }
#pragma unroll 1
  for (unsigned node = 7; node; --node) tree.play(node);
#pragma unroll 1
  for (unsigned r = 0; r < n; ++r) {
    unsigned top = tree.pop(r & 1 ? ~0u : pcg.next());
    if (top > 0xa0000000u) break;                                    // another trip for each lane
    unsigned long long product = (unsigned long long)top * (1000 + n);
    acc += s[(unsigned)(product >> 32)];
    if ((unsigned)product < 0x40000000u) acc += s[pcg.next() >> 22];
  }
  acc += s[(pcg.next() >> 27) * 32 + (t & 31)];
  return acc;
}

extern "C" __global__ void k9874(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ unsigned key[9 * 160];
  __shared__ unsigned char win[9 * 160];
  __shared__ unsigned s[1024];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z, acc;
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * 5;
  for (unsigned i = t; i < 9 * 160; i += nt) { key[i] = i; win[i] = 0; }
  __syncthreads();
  if (n & 1) acc = select<ByLane>(key, win, s, t, nt, n);
  else acc = select<ByNode>(key, win, s, t, nt, n);
  __syncthreads();
  acc += key[win[nt + t] * nt + (src[t & 1023] + t) % nt];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
