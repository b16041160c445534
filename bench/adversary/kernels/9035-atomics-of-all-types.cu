// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 19 n=3
// Atomics on floats, doubles, halves, 64 and 128 bits: on one word, on words of one bank, and on distinct words.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9035(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[2048];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 2048; k += blockDim.x) s[k] = k;
    __syncthreads();
    acc += __float_as_uint(atomicAdd((float*)s + t, 1.0f));
    atomicAdd((double*)s + (t & 3), 0.5);
    acc += (unsigned)atomicCAS((unsigned long long*)s + (t * 2 & 1023), 5ull, 7ull);
    acc += (unsigned)atomicExch((unsigned long long*)s + (t & 31) * 16, 9ull);
    if (t & 1) atomicAdd((unsigned long long*)s + 600, 3ull);
    asm volatile("red.shared.add.noftz.f16x2 [%0], %1;" :: "r"(at(s + 1024 + t)), "r"(0x3C003C00u) : "memory");
    unsigned r; asm volatile("atom.shared.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(r) : "r"(at(s + 1100 + (t & 1))), "r"(0x3F803F80u) : "memory"); acc += r;
    acc += (unsigned)atomicMin((long long*)s + (t % 9), -(long long)t);
    atomicDec(s + 1500 + (t & 7), n);
    unsigned short h = atomicCAS((unsigned short*)s + 3200 + t, (unsigned short)1, (unsigned short)2); acc += h;
    unsigned long long w; asm volatile("{ .reg .b128 a, b; .reg .u64 x; mov.b128 b, {%2, %2}; atom.shared.exch.b128 a, [%1], b; mov.b128 {%0, x}, a; }" : "=l"(w) : "r"(at(s + 1800 + (t & 15) * 4)), "l"(3ull) : "memory");
    acc += (unsigned)w + s[(t * 2) & 2047];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
