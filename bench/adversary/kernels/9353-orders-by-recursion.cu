// launch 1 32 n=2
// launch 1 8x7 n=5
// launch 2 64 n=23
// Indices by recursion at compile time and at run time: quadrants of a matrix, permutations by factorial digits, Ackermann-like walks, Josephus, bit-reversed halves.
template <int N> __device__ __forceinline__ unsigned quadrant(unsigned r, unsigned c) { if constexpr (N == 1) return 0; else return ((r & N / 2 ? 2 : 0) + (c & N / 2 ? 3 : 0) % 4) % 4 * (N / 2) * (N / 2) + quadrant<N / 2>(c, r); }
__device__ constexpr unsigned factorial(unsigned k) { return k < 2 ? 1 : k * factorial(k - 1); }
__device__ __noinline__ unsigned josephus(unsigned k, unsigned step) { return k == 1 ? 0 : (josephus(k - 1, step) + step) % k; }
__device__ __noinline__ unsigned split(unsigned* s, unsigned from, unsigned to, unsigned key) { if (to - from < 2) return from; unsigned mid = (from + to * 2) / 3; unsigned v = s[mid & 1023]; return (mid ^ key) & 1 ? split(s, from, mid, key >> 1) + (v & 0) : split(s, mid, to, key >> 1) + (v & 0); }
extern "C" __global__ void k9353(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char order[64][6];
    unsigned T = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned code = (t * 11 + n) % factorial(6), used = 0;
    for (unsigned i = 0; i < 6; i++) { unsigned d = code / factorial(5 - i); code %= factorial(5 - i); unsigned at = 0; for (;; at++) { if (used >> at & 1) continue; if (d == 0) break; d--; } used |= 1u << at; order[t][i] = (unsigned char)at; }
    __syncthreads();
    acc += s[quadrant<32>(t, n) & 1023];
    acc += s[quadrant<16>(t >> 2, t * 3) * 4 & 1023];
    unsigned char* mine = order[(t * 3 + 1) % T];
    for (unsigned i = 0; i < 6; i++) if (mine[i] > i) acc += s[(mine[i] * 32 + t) & 1023];
    unsigned cycle = 0, at = t % 6; do { at = mine[at]; cycle++; } while (at != t % 6); acc += s[(cycle * 64 + at * 8) & 1023];
    unsigned last = josephus(t % 9 + 1, n + 1); acc += s[(last * 33) & 1023]; s[(last * 4 + t) & 1023] = acc;
    unsigned found = split(s, t & 7, 60 + t, t * 0x35u ^ n); acc += s[(found * 8) & 1023];
    unsigned inversions = 0;
    for (unsigned i = 0; i < 5; i++) for (unsigned j = i + 1; j < 6; j++) inversions += mine[i] > mine[j];
    if (inversions & 1) s[(inversions * 16) & 1023] = acc; else acc += s[(inversions * 32 + 1) & 1023];
    int k = 4;
    while (k >= 0 && mine[k] > mine[k + 1]) k--;
    if (k >= 0) { int j = 5; while (mine[j] < mine[k]) j--; acc += s[(unsigned)(j * 100 + k * 32) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc;
}
