// launch 1 32 n=1
// launch 2 64 n=2
// launch 1 33 n=0
// Calls through tables by lane, in a loop that lanes leave separately; one entry calls through the table again.
typedef unsigned (*F)(unsigned*, unsigned, unsigned);
__device__ unsigned f0(unsigned* s, unsigned t, unsigned d);
__device__ unsigned f1(unsigned* s, unsigned t, unsigned d);
__device__ unsigned f2(unsigned* s, unsigned t, unsigned d);
__device__ F table[3] = {f0, f1, f2};
__device__ __noinline__ unsigned f0(unsigned* s, unsigned t, unsigned d) { s[(t * 2) & 1023] = d; return t; }
__device__ __noinline__ unsigned f1(unsigned* s, unsigned t, unsigned d) {
    if (t & 2) return s[(t * 4) & 1023] & 3;
    for (unsigned i = 0; i < (t & 1) + 1; i++) s[(t + i * 7) & 1023] = i;
    return 1;
}
__device__ __noinline__ unsigned f2(unsigned* s, unsigned t, unsigned d) {
    s[(t * 3) & 1023] += 1;
    return d ? table[(t + d) % 3](s, t + 1, d - 1) : 5;
}
extern "C" __global__ void k9010(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    for (unsigned i = 0; i < 2 + (t & 1); i++) {
        acc += table[(t + i + n) % 3](s, t, 2);
        if ((t & 7) == 3) break;
        s[(t * 5 + i) & 1023] = i;
    }
    s[(t * 2 + 3) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
