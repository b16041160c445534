// launch 1 64 n=100
// launch 2 45 n=77
// launch 1 3x5x7 n=201
// launch 1 32 n=19
// Batcher's network for a length that is no power of two, the place of each comparator by signed division by run-time
// p and k, then a merge path: each thread finds its diagonal by binary search in sorted shared keys and merges a few
// elements serially
template <class K, class V>
struct Pairs {
  K* key;
  V* val;
  __device__ void exchange(int a, int b) const {
    K x = key[a], y = key[b];
    if (y < x) {
      key[a] = y; key[b] = x;
      V v = val[a]; val[a] = val[b]; val[b] = v;
    }
  }
  __device__ void sort(int begin, int n, int t, int nt) const {
#pragma unroll 1
    for (int p = 1; p < n; p += p)
#pragma unroll 1
      for (int k = p; k >= 1; k /= 2) {
        int j = k % p;
#pragma unroll 1
        for (int q = t; ; q += nt) {
          int a = j + q % k + q / k * 2 * k;
          if (a + k >= n) break;                           // a grows with q
          if (a / (2 * p) == (a + k) / (2 * p)) exchange(begin + a, begin + a + k);
        }
        __syncthreads();
      }
  }
};

template <class K>
__device__ int path(const K* a, int na, const K* b, int nb, int diag) {
  int lo = max(0, diag - nb), hi = min(diag, na);
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (!(b[diag - 1 - mid] < a[mid])) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

extern "C" __global__ void k9868(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ int key[256];
  __shared__ unsigned short val[256];
  __shared__ unsigned s[1024];
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int nt = blockDim.x * blockDim.y * blockDim.z, len = n < 256 ? n : 256;
  unsigned acc = 0;
  for (int i = t; i < 1024; i += nt) s[i] = i * 9;
  for (int i = t; i < len; i += nt) {
    key[i] = (i * 53 + (int)blockIdx.x * 7) % 127 - 60;
    val[i] = (unsigned short)(i * 3);
  }
  __syncthreads();
  Pairs<int, unsigned short> m{key, val};
  int half = len / 3;                                       // two lists of unequal length
  m.sort(0, half, t, nt);
  m.sort(half, len - half, t, nt);
  int each = (len + nt - 1) / nt, diag = min(t * each, len);
  int i = path(key, half, key + half, len - half, diag), j = diag - i;
#pragma unroll 1
  for (int r = 0; r < each && diag + r < len; ++r) {
    bool left = j >= len - half || (i < half && !(key[half + j] < key[i]));
    int at = left ? i++ : half + j++;
    acc = acc * 5 + s[(key[at] * 8 + 512) & 1023] + val[at];
    s[(val[at] + 0) & 1023] = i * 9;                        // val stays below 1024, each written by its one merger
  }
  __syncthreads();
  acc += s[(key[(t * 7) % len] + (int)src[t & 1023]) & 1023];
  out[(blockIdx.x * nt + t) & 1023] = acc;
}
