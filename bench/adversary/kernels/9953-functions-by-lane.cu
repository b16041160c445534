// launch 1 32 n=1
// launch 1 64 n=4
// launch 2 45 n=7
// Six functions of a table, called in a loop by lanes that choose differently, some of which leave early.
typedef unsigned (*F)(unsigned*, unsigned, unsigned);
__device__ __noinline__ unsigned fa(unsigned* s, unsigned t, unsigned k) { s[(t * 2 + k) & 511] = k; return k + 1; }
__device__ __noinline__ unsigned fb(unsigned* s, unsigned t, unsigned k) { unsigned v = s[512 + ((t * 4) & 511)]; return (v & 1) + k; }
__device__ __noinline__ unsigned fc(unsigned* s, unsigned t, unsigned k) { for (unsigned i = 0; i < (t & 3); i++) s[(t + i * 32) & 511] = i; return k + 2; }
__device__ __noinline__ unsigned fd(unsigned* s, unsigned t, unsigned k) { if (t & 4) return k + 5; s[(t * 8) & 511] = t; return k + 3; }
__device__ __noinline__ unsigned fe(unsigned* s, unsigned t, unsigned k) { return s[512 + ((t * 33 + k) & 511)] % 3 + k; }
__device__ __noinline__ unsigned ff(unsigned* s, unsigned t, unsigned k) { s[(t * 3 + 1) & 511] = k * 2; return k + 4; }
__constant__ F table[6] = {fa, fb, fc, fd, fe, ff};
extern "C" __global__ void k9953(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, k = n & 3;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 7;
    __syncthreads();
    while (k < 14 + (t & 7)) {
        k = table[(t * 5 + k) % 6](s, t, k);
        if (k % 7 == 6 && (t & 16)) break;
        k++;
    }
    s[(t * 5) & 1023] = k;
    out[(blockIdx.x * blockDim.x + t) & 2047] = k;
}
