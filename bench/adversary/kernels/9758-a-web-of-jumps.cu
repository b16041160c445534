// launch 1 32 n=6
// launch 1 64 n=9
// Blocks that jump to each other, with entries in the middle of a loop, where i may be unwritten, and a counter that ends it.
extern "C" __global__ void k9758(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned x = t, k = 0, i;
    if (l < 9) goto B; if (l > 25) goto D;
A:  acc += s[(x * 2) & 1023]; x += n; if (++k > n) goto Z; if (x % 3 == 0) goto C;
B:  acc += s[(x * 3 + k) & 1023]; x ^= ++k; if (k > n) goto Z; if (x & 4) goto D;
    for (i = 0; i < (x & 3); i++) {
C:      acc += s[(x + i * 32) & 1023]; i = x & 1; if (++k > n) goto Z; if (x % 5 == 1) { x++; goto A; }
    }
    x = x * 5 + 1; if (++k > n) goto Z; if (x & 8) goto B;
D:  acc += s[(x * 8) & 1023]; x >>= 1; if (++k > n) goto Z; goto A;
Z:  acc += s[(k * l) & 1023];
    __syncwarp();
    acc += s[(t * 16) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
