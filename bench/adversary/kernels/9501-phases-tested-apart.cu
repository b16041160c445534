// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 40 n=3
// Groups of lanes that a nap diverged test one phase at one instruction, each at its time; the first group completes it.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ bool test(unsigned long long* b, unsigned phase) { unsigned p; asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); return p; }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9501(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned long long bar[4];
    if (t < 4) init(bar + t, 1);
    __syncthreads();
    if (src[l + n] & 1) { __nanosleep(40); acc += s[(l * 3) & 1023]; }
    bool p = test(bar + (w & 3), 0);
    if (!p) { unsigned here = __activemask(); if (l == __ffs(here) - 1) arrive(bar + (w & 3)); }
    __syncwarp(__activemask());
    __syncthreads();
    acc += s[((l >> 1) + (p ? 32 : 0)) & 1023];
    if (p) acc += s[(l * 2) & 1023];
    unsigned step = p ? 1 : 33;
    s[((l >> 1) * step) & 1023] = acc;
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
