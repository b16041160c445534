// launch 1 64 n=3
// launch 1 96 n=6
// launch 1 128 n=5
// Four stages of mbarriers; a warp's leader arrives for all of its lanes, states are kept and tested, pending counts are addresses.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
extern "C" __global__ void k9507(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned long long full[4], empty[4];
    __shared__ unsigned stage[4][64];
    if (t < 4) { init(full + t, 32); init(empty + t, T - 32); }
    __syncthreads();
    unsigned long long state;
    if (w == 0) {
        for (unsigned i = 0; i < n; i++) {
            wait(empty + (i & 3), ((i >> 2) & 1) ^ 1);
            stage[i & 3][l] = (l * (i + 1)) & 63; stage[i & 3][l + 32] = (l + i) & 31;
            __syncwarp();
            if (l == (i & 31)) asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 32;" : "=l"(state) : "r"(AT(full + (i & 3))) : "memory");
            if (i & 1) acc += s[(l * i) & 1023];
        }
    } else {
        for (unsigned i = 0; i < n; i++) {
            wait(full + (i & 3), (i >> 2) & 1);
            unsigned a = stage[i & 3][l], b = stage[i & 3][32 + (l ^ 1)];
            acc += s[(a * 4) & 1023];
            if (b & 1) s[(b * 8) & 1023] = i;
            __syncwarp();
            if (l == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0], 32;" :: "r"(AT(empty + (i & 3))) : "memory");
        }
    }
    __syncthreads();
    unsigned left;
    if (w == 0) {
        __shared__ unsigned long long one;
        if (l == 0) init(&one, 40);
        __syncwarp();
        if (l == 3) { asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 7;" : "=l"(state) : "r"(AT(&one)) : "memory"); asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state)); acc += s[left & 1023]; }
        left = __shfl_sync(~0u, left, 3);
        acc += s[(l * left) & 1023];
    }
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
