// launch 1 32 n=90
// launch 1 64 n=2863311530
// launch 1 21 n=65537
// Selecting the k-th set bit by popcounts of halves, walking set bits by ffs, ranks in a bitmap, leading zeros as levels; 64-bit variants.
__device__ unsigned kth(unsigned m, unsigned k) {
    unsigned at = 0;
    for (unsigned w = 16; w; w >>= 1) { unsigned c = (unsigned)__popc(m >> at & ((1u << w) - 1)); if (k >= c) { k -= c; at += w; } }
    return at;
}
extern "C" __global__ void k9325(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned map[33], rank[33];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 33; k += T) map[k] = n * (k * 2 + 1) ^ k << 13;
    __syncthreads();
    if (t == 0) { unsigned sum = 0; for (unsigned k = 0; k < 33; k++) { rank[k] = sum; sum += (unsigned)__popc(map[k]); } }
    __syncthreads();
    unsigned m = map[t & 31], bit = kth(m, t % 9);
    acc += s[(bit * 32 + t) & 1023];
    unsigned p = (t * 23) & 1023;
    acc += s[(rank[p >> 5] + (unsigned)__popc(map[p >> 5] & ((1u << (p & 31)) - 1))) & 1023];
    for (unsigned left = m; left; left &= left - 1) { unsigned b = (unsigned)__ffs((int)left) - 1; if (b > 20) break; acc += s[(b * 33 + (left & 3)) & 1023]; }
    unsigned level = 31 - (unsigned)__clz((int)(t * t + 1));
    s[(level * 64 + t) & 1023] = acc;
    unsigned lo = 0, hi = 33;
    while (hi - lo > 1) { unsigned mid = (lo + hi) >> 1; if (rank[mid] <= t * 16) lo = mid; else hi = mid; }
    unsigned inside = t * 16 - rank[lo], where = __fns(map[lo], 0, (int)inside + 1);
    acc += s[(lo * 32 + (where & 31)) & 1023];
    if (where == ~0u) s[(t * 4) & 1023] = acc;
    unsigned long long w = (unsigned long long)map[t & 31] << 32 | map[32 - (t & 31)];
    acc += s[(unsigned)(__brevll(w) >> 50) & 1023];
    acc += s[((unsigned)__popcll(w) * (unsigned)__ffsll((long long)(w & 0xFFFFFFFF00000000ull)) + (unsigned)__clzll((long long)(w >> t))) & 1023];
    unsigned up = m + 1 & ~m, run = (unsigned)__popc(up - 1);
    acc += s[(run * 16 + __brev(m << (t & 7)) % 61) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
