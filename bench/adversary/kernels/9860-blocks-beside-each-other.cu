// launch 1 64 n=5
// launch 4 96 n=300
// launch 3 33 n=77
// launch 4 5x7x3 n=2
// each block changes its own 256 words, reads words that nobody writes, and words that every block overwrites with
// what is there already; the same store is a change in block 0 and a no-op in the others
extern "C" __global__ void k9860(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, b = blockIdx.x, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 11;
    __syncthreads();
    volatile unsigned* g = out;
    volatile unsigned* h = (volatile unsigned*)src;
    unsigned own = b * 256 + t;
    acc += s[(g[own] * 2) & 1023];                                // before
    g[own] = h[own] * 2 + b;
    acc += s[g[own] & 1023];                                      // after
    unsigned j = 2048 + ((t * 9 + n) & 1023);
    g[j] = j;                                                     // what is there
    h[j] = ((j * 7) ^ (j >> 3)) % 1024;                           // what is there
    acc += s[(g[2048 + ((t * 5 + b) & 1023)] * 4) & 1023];
    acc += s[(h[2048 + ((t * 3 + b * 7) & 1023)] * 2) & 1023];
    unsigned m = 256 * b + ((t + 1) % nt);
    h[own] = b == 0 ? t * 8 : ((own * 7) ^ (own >> 3)) % 1024;    // a change in block 0 only
    __threadfence_block();
    __syncthreads();
    acc += s[g[m] & 1023] + s[h[m] & 1023];
    acc += s[(h[256 * (b | 1) + nt + (t & 15)] * 8) & 1023];      // past the threads of a block: nobody's
    acc += s[(g[1024 + ((t * 33) & 1023)] >> 1) & 1023];          // nobody's
    acc += s[(h[3072 + ((t * 17 + n) & 1023)] + l) & 1023];
    __syncthreads();
    if (b + 1 == gridDim.x && (t & 8)) g[own] = 1000 - t;         // the last block alone, some lanes
    acc += s[g[own] & 1023];
    unsigned from = b * 256 + (t ^ 8);
    __threadfence_block();
    __syncthreads();
    if ((t ^ 8) < nt) acc += s[(g[from] * 2 + 1) & 1023];
    out[3072 + own] = acc;
}
