// launch 1 32 n=3
// launch 1 64 n=5
// Functions that call each other through pointers by lane, to a depth by lane; results on the way back index shared memory.
typedef unsigned (*Step)(unsigned*, unsigned, unsigned);
__device__ unsigned even(unsigned*, unsigned, unsigned);
__device__ unsigned odd(unsigned*, unsigned, unsigned);
__device__ unsigned third(unsigned*, unsigned, unsigned);
__device__ Step steps[3] = {even, odd, third};
__device__ __noinline__ unsigned even(unsigned* s, unsigned x, unsigned d) { unsigned a = s[(x * 2) & 1023]; return d ? steps[(x + d) % 3](s, x + 1, d - 1) + a : a; }
__device__ __noinline__ unsigned odd(unsigned* s, unsigned x, unsigned d) { unsigned a = d ? steps[x & 1](s, x * 3, d - 1) : 1; return a + s[(x * 4 + d) & 1023]; }
__device__ __noinline__ unsigned third(unsigned* s, unsigned x, unsigned d) { return s[(x * 32) & 1023] + (d > 1 ? steps[d % 3](s, x ^ 5, d - 2) : 0); }
extern "C" __global__ void k9757(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    acc += steps[l % 3](s, t, n);
    __syncwarp();
    acc += steps[n % 3](s, l, l & 3);
    __syncwarp();
    acc += s[t * 8];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
