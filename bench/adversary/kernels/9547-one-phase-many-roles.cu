// launch 1 96 n=2
// launch 1 128 n=3
// launch 1 160 n=4
// Warps of three roles chained by mbarriers (load, transform, use); what the middle role writes decides the last one's trips and truths.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void init(unsigned long long* b, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(AT(b)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) { unsigned p; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(AT(b)), "r"(phase) : "memory"); while (!p); }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(AT(b)) : "memory"); }
extern "C" __global__ void k9547(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned raw[2][32], cooked[2][32];
    __shared__ unsigned long long a[2], b[2], c[2];
    unsigned users = (T >> 5) - 2;
    if (t < 2) { init(a + t, 1); init(b + t, 32); init(c + t, users); }
    __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        unsigned k = i & 1, p = (i >> 1) & 1;
        if (w == 0) {
            wait(c + k, p ^ 1);
            raw[k][l] = src[i * 32 + l] & 31;
            __threadfence_block(); __syncwarp();
            if (l == 31) arrive(a + k);
        } else if (w == 1) {
            wait(a + k, p);
            unsigned v = raw[k][l ^ 1];
            acc += s[(v * 2) & 1023];
            cooked[k][l] = (v + l) & 7;
            arrive(b + k);
        } else {
            wait(b + k, p);
            unsigned v = cooked[k][l], trips = cooked[k][0] & 3;
            for (unsigned j = 0; j < trips; j++) acc += s[(l * 3 + j) & 1023];
            if (v & 4) s[(l * v) & 1023] = i;
            __syncwarp();
            if (l == 0) arrive(c + k);
        }
    }
    __syncthreads();
    acc += s[(cooked[0][l] * 4) & 1023] + s[(raw[1][3] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
