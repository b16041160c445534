// launch 1 32 n=2
// launch 1 64 n=3
// Divergence inside divergence that ends at different places: returns from functions in loops, breaks out of two, barriers between.
__device__ __noinline__ unsigned leaf(unsigned* s, unsigned x, unsigned n) { for (unsigned i = 0; ; i++) { if (x % (i + 2) == 0) return s[(x * 4) & 1023] + i; if (i > n) break; s[1000 + (x & 7)] = i; if (x & 16) __nanosleep(1); } return s[(x * 8) & 1023]; }
extern "C" __global__ void k9816(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    for (unsigned i = 0; i < n + 2; i++) {
        if (l > i * 9) { acc += leaf(s, l + i, n); if ((acc & 3) == 3 || (l & 7) == i) continue; acc += s[(l * 2) & 1023]; }
        else if (l & 1) { for (unsigned j = 0; j < 3; j++) { if (l == j * 2 + 1) goto away; acc += leaf(s, l * j, 1); } }
        acc += s[(l + i * 32) & 1023];
        __syncwarp(__activemask());
    }
away:
    acc += s[(l * 16) & 1023];
    __syncthreads();
    acc += leaf(s, t, n) + s[(l * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
