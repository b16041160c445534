// launch 1 64 n=2
// launch 2 50 n=5
// launch 1 5x7x3 n=3
// launch 1 128 n=7
// hash tables of 64-bit slots, one a warp; lanes that want one empty slot are told apart by match among a ballot;
// lookups by other warps probe by double hashing in loops that every lane leaves at its own trip, with a cap on the
// probes
template <unsigned CAP, unsigned TRIES>
struct Table {
  static constexpr unsigned long long EMPTY = ~0ull;
  unsigned long long slot[CAP];
  __device__ static unsigned mix(unsigned h) {
    h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
    return h;
  }
  __device__ unsigned insert(unsigned mask, unsigned key, unsigned value) {
    unsigned h = mix(key), at = h & (CAP - 1), step = (h >> 16) | 1, lt, tries = 0;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    bool done = false;
    for (; tries < TRIES; ++tries) {
      unsigned long long old = done ? 0 : slot[at];
      bool want = !done && old == EMPTY;
      unsigned wanting = __ballot_sync(mask, want);
      if (want) {
        unsigned peers = __match_any_sync(wanting, at);
        if (!(peers & lt)) {
          slot[at] = (unsigned long long)key << 32 | value;
          done = true;
        }
      }
      __syncwarp(mask);
      if (!done && (unsigned)(old >> 32) == key) done = true;
      if (!done && !want) at = (at + step) & (CAP - 1);      // who lost looks at the same slot again
      if (!__any_sync(mask, !done)) break;
    }
    return tries;
  }
  __device__ unsigned find(unsigned key, unsigned& probes) const {
    unsigned h = mix(key), at = h & (CAP - 1), step = (h >> 16) | 1;
    for (probes = 0; probes < TRIES; ++probes) {
      unsigned long long e = slot[at];
      if (e == EMPTY) return ~0u;
      if (e >> 32 == key) return (unsigned)e;
      at = (at + step) & (CAP - 1);
    }
    return ~0u - 1;
  }
};

extern "C" __global__ void k9866(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ Table<64, 12> tab[4];
  __shared__ unsigned char bytes[1024];
  __shared__ unsigned s[1024];
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5, nw = (nt + 31) >> 5, acc = 0;
  for (unsigned i = t; i < 1024; i += nt) { bytes[i] = i * 7; s[i] = 1023 - i; }
  for (unsigned i = t; i < 256; i += nt) tab[i >> 6].slot[i & 63] = tab[0].EMPTY;
  __syncthreads();
  unsigned live = w * 32 + 32 > nt ? (1u << (nt & 31)) - 1 : ~0u;
  unsigned key = (t + blockIdx.x * 1000) / (1 + (n & 1)) * 3;  // with odd n, pairs of lanes bring one key
  unsigned tries = tab[w].insert(live, key, t * 4 + n);
  acc += s[(tries * 33 + l * 2) & 1023];
  if (l < 20) tries = tab[w].insert(live & 0xfffff, key + 100000 * n, l * 36);
  acc += bytes[(tries * 128 + l * 5) & 1023];
  __syncthreads();
  unsigned other = (w + 1) % nw, probes;
#pragma unroll 1
  for (unsigned k = 0; k < n; ++k) {
    unsigned who = other * 32 + ((l + k * 5) & 31);
    unsigned v = tab[other].find((who + blockIdx.x * 1000) / (1 + (n & 1)) * 3, probes);
    if (v < 0xfffffffeu) acc += s[v & 1023];
    else acc += bytes[(probes * 68 + l) & 1023];
  }
  unsigned v = tab[(w ^ 1) & 3].find(src[(t * 5) & 1023] * 3, probes);
  s[(probes * 32 + t) & 1023] = v;
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
