// launch 1 32 n=1
// launch 1 96 n=2
// launch 2 50 n=3
// One phase is tested before and after it completes: accesses where the answers differ, where they are the same, and by their number.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ bool test(unsigned long long* b, unsigned phase) { unsigned p; asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); return p; }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9503(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned long long bar;
    if (t == 0) init(&bar, 3);
    __syncthreads();
    bool before = test(&bar, 0), past = test(&bar, 1);
    __syncthreads();
    if (t == 0) for (unsigned k = 0; k < 3; k++) arrive(&bar);
    __syncthreads();
    bool after = test(&bar, 0), now = test(&bar, 1);
    if (before != after) acc += s[(l * 4) & 1023]; else acc += s[(l * 8) & 1023];
    if (past == now) s[(l * 2) & 1023] = 1; else s[(l * 5) & 1023] = 2;
    acc += s[(l * (after - before + 2)) & 1023];
    for (unsigned k = 0; k < n; k++) {
        bool odd = test(&bar, k & 1);
        __syncthreads();
        if (t == 0 && !odd) for (unsigned i = 0; i < 3; i++) arrive(&bar);
        __syncthreads();
        if (odd) acc += s[(l * 16 + k) & 1023]; else s[(l * 3 + k) & 1023] = k;
    }
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
