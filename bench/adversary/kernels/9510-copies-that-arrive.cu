// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 77 n=2
// cp.async of indices whose completion arrives at an mbarrier, with and without .noinc; lanes with a false predicate copy nothing.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9510(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned d[2][512];
    __shared__ unsigned long long bar[2];
    if (t == 0) { init(bar, T); init(bar + 1, T); }
    for (unsigned k = t; k < 1024; k += T) (&d[0][0])[k] = 1;
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(AT(&d[0][t])), "l"(src + t * n) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(AT(bar)) : "memory");
    if (l & 1) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(AT(&d[1][t * 4])), "l"(src + t * 4) : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(AT(bar + 1)) : "memory");
    arrive(bar + 1);
    wait(bar, 0);
    unsigned a = d[0][t];
    acc += s[(a * 4) & 1023];
    wait(bar + 1, 0);
    unsigned b = d[1][t * 4 + 3], c = d[0][(t + 1) % T];
    s[(b * 8) & 1023] = c;
    if (c & 1) acc += s[(l * 2) & 1023];
    for (unsigned k = 0; k < (d[0][n] & 7); k++) acc += s[(l * 5 + k) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
