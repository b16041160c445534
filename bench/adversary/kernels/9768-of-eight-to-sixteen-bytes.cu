// launch 1 32 n=2
// launch 1 64 n=3
// Atomics of 16, 64 and 128 bits and of packed halves in shared memory, whose old values decide.
#include <cuda_fp16.h>
extern "C" __global__ void k9768(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(16) unsigned long long a[64];
    __shared__ unsigned short h[64];
    __shared__ __half2 p[32];
    a[t & 63] = t; h[t & 63] = t; if (t < 32) p[t] = __float2half2_rn(0.f);
    __syncthreads();
    unsigned long long o = atomicMax(&a[t >> 1], (unsigned long long)t * n); acc += s[((unsigned)o & 31) * 4];
    long long m = atomicMin((long long*)&a[t ^ 1], -(long long)t); acc += s[(unsigned)m & 1023];
    unsigned short c = atomicCAS(&h[t & 63], (unsigned short)t, (unsigned short)(t * 3)); acc += s[c * 8 & 1023];
    o = atomicExch(&a[(t * 2) & 63], (unsigned long long)t << 3); acc += s[(unsigned)o & 255];
    atomicAdd(&p[t & 31], __float2half2_rn((float)l));
    __syncthreads();
    acc += s[(unsigned)__low2float(p[t & 15]) & 1023];
    unsigned lo, at = (unsigned)__cvta_generic_to_shared(a + (t & 31) * 2);
    asm volatile("{ .reg .b128 x, y; .reg .b64 a, b; mov.b64 a, %2; mov.b64 b, %3; mov.b128 x, {a, b}; atom.shared.exch.b128 y, [%1], x; mov.b128 {a, b}, y; cvt.u32.u64 %0, a; }" : "=r"(lo) : "r"(at), "l"((unsigned long long)t), "l"(0ull) : "memory");
    acc += s[lo & 15];
    __syncthreads();
    acc += s[(unsigned)a[l * 2] & 1023] + atomicAnd(&a[5], ~0ull) * 0 + (unsigned)atomicOr(&s[t * 2], 1);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
