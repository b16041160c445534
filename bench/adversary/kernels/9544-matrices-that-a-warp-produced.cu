// launch 1 64 n=2
// launch 1 128 n=3
// A producing warp stores rows and their order, arrives, and consumers load matrices of rows that the order names.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9544(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ __align__(16) unsigned rows[2][32][4]; __shared__ unsigned order[2][32];
    __shared__ unsigned long long full[2], empty[2];
    if (t < 2) { init(full + t, 32); init(empty + t, T - 32); }
    __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        unsigned b = i & 1, phase = (i >> 1) & 1;
        if (w == 0) {
            wait(empty + b, phase ^ 1);
            for (unsigned k = 0; k < 4; k++) rows[b][l][k] = (l * 4 + k + i) & 63;
            order[b][l] = (l * 5 + i) & 31;
            arrive(full + b);
        } else {
            wait(full + b, phase);
            unsigned x, y, row = order[b][l];
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(AT(&rows[b][row & 31][0])) : "memory");
            acc += s[((x & 31) * 4) & 1023];
            if (y & 1) s[(l * 2) & 1023] = x;
            arrive(empty + b);
        }
    }
    __syncthreads();
    acc += s[(order[0][l] * 8) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
