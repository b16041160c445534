// launch 1 64 n=5
// launch 2 96 n=200
// launch 4 33 n=77
// launch 2 5x7x3 n=150
// a sieve in out: composite words are overwritten by a divisor, primes stay, whether a stride is struck out is
// itself read from out; then up to 200 trips of pseudo-random stores into eight of sixteen words
extern "C" __global__ void k9861(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, base = blockIdx.x * 1024, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i ^ (i >> 2);
    __syncthreads();
    volatile unsigned* g = out + base;
    for (unsigned d = 2; d * d < 1000; d++) {
        if (g[d] == base + d)
            for (unsigned m = d * d + t * d; m < 1000; m += nt * d) g[m] = d;
        __threadfence_block();
        __syncthreads();
    }
    acc += s[(g[(l * 7 + 2) & 511] * 4) & 1023];                  // primes stay, composites are small
    acc += s[(g[(t * 2 + 1) & 511] * 2) & 1023];
    acc += s[g[1000 + (t % 24)] & 1023];                          // past the end of the sieve
    acc += s[(g[t & 3] + l) & 1023];                              // 0 to 3: never struck out
    acc += s[(g[g[t + 4] & 511] * 8) & 1023];
    unsigned r = (blockIdx.x * nt + t) * 16, x = n * 2654435761u + l;
    volatile unsigned* h = (volatile unsigned*)src + r;
    for (unsigned k = 0; k < n; k++) {
        x = x * 1664525u + 1013904223u;
        acc += s[(h[k & 7] * 2) & 1023];
        h[(x >> 20) & 7] = (x >> 24) + k;
        acc += s[(h[8 + (k & 7)] + k) & 1023];                    // stay
    }
    acc += s[h[l & 15] & 1023];
    __syncthreads();
    g[t] = acc;
}
