// launch 1 32 n=1
// launch 1 64 n=2
// Lanes call one of three functions through a table, one of which naps; what is together after the calls takes masks and votes.
__device__ __noinline__ unsigned one(unsigned v) { return v & 15; }
__device__ __noinline__ unsigned two(unsigned v) { __nanosleep(30); return v & 7; }
__device__ __noinline__ unsigned three(unsigned v) { return v * 3 & 31; }
extern "C" __global__ void k9562(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    typedef unsigned (*Fn)(unsigned);
    Fn table[3] = {one, two, three};
    unsigned v = src[l + n];
    unsigned r = table[v % 3](v);
    unsigned m = __activemask();
    acc += s[(l * 2) & 1023];
    __syncwarp(m);
    __syncthreads();
    acc += s[((l >> 1) + (m & 1) * 32) & 1023];
    acc += s[((l >> 1) + (__popc(m) & 1) * 32) & 1023];
    acc += s[(r * 4) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
