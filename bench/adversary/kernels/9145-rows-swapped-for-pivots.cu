// launch 1 32 n=9
// launch 1 48 n=12
// launch 2 20 n=7
// LU modulo 251 with partial pivoting: rows swapped in memory or only in a permutation, inverses by powers, triangular loops.
extern "C" __global__ void k9145(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned short a[12 * 13], b[12 * 13];
    __shared__ unsigned pivot, permuted[12], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, pitch = n | 1, swaps = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < n * n; k += size) {
        unsigned r = k / n, c = k % n, v = (src[k * 9] * r + c * c * (r ^ 3)) % 251;
        if (c <= 1 && r < 3) v = 0;
        a[r * pitch + c] = b[r * pitch + c] = (unsigned short)v;
    }
    if (t < n) permuted[t] = t;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        if (t < 32) {
            unsigned live = __ballot_sync(__activemask(), t >= k && t < n && a[t * pitch + k] != 0);
            if (t == 0) pivot = live ? __ffs(live) - 1 : k;
        }
        __syncthreads();
        unsigned p = pivot;
        if (p != k) {
            swaps++;
            if (t < n) { unsigned short x = a[k * pitch + t]; a[k * pitch + t] = a[p * pitch + t]; a[p * pitch + t] = x; }
            if (t == n) { unsigned x = permuted[k]; permuted[k] = permuted[p]; permuted[p] = x; }
        }
        __syncthreads();
        unsigned base = a[k * pitch + k], inverse = 1;
        for (unsigned e = 249; e; e >>= 1) { if (e & 1) inverse = inverse * base % 251; base = base * base % 251; }
        for (unsigned i = k + 1 + t; i < n; i += size) {
            unsigned factor = a[i * pitch + k] * inverse % 251;
            a[i * pitch + k] = (unsigned short)factor;
            if (factor)
                for (unsigned j = k + 1; j < n; j++) a[i * pitch + j] = (unsigned short)((a[i * pitch + j] + 251 * 251 - factor * a[k * pitch + j]) % 251);
        }
        __syncthreads();
    }
    unsigned row = permuted[t % n];
    acc += b[row * pitch + t / n % n];
    acc += s[(a[(t % n) * pitch + t / n % n] * 4u) & 1023];
    for (unsigned c = 0; c < t % n; c++) s[(a[(t % n) * pitch + c] + c * 256u) & 1023] = swaps;
    out[(blockIdx.x * size + t) & 2047] = acc + swaps;
}
