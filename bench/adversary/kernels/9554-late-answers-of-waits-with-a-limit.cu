// launch 1 64 n=1
// launch 1 96 n=2
// try_wait with a time limit, in loops that count trips, by lanes apart; the count and the first answer are used afterwards.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9554(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned long long bar;
    if (t == 0) init(&bar, 1);
    __syncthreads();
    unsigned p = 0, trips = 0, first = 2;
    if (w == 0) { __nanosleep(2000); if (l == 0) arrive(&bar); }
    else {
        if (l & 1) acc += s[(l * 2) & 1023];
        while (!p) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0, 100; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(&bar)) : "memory");
            if (first == 2) first = p;
            trips++;
        }
        acc += s[((l >> 1) + (trips > 1 ? 32 : 0)) & 1023];
        if (first) s[(l * 4) & 1023] = trips; else acc += s[(l * 8) & 1023];
        for (unsigned k = 0; k < (trips & 1); k++) acc += s[(l * 3) & 1023];
    }
    __syncthreads();
    acc += s[(l * (first + 1)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
