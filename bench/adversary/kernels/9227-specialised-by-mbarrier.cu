// launch 1 64 n=5
// launch 2 96 n=4
// launch 1 160 n=7
// Warp-specialised producer and consumers over three stages with mbarriers and phases; stage and phase wrap apart; data are indices.
#define ADDR(p) (unsigned)__cvta_generic_to_shared(p)
__device__ __forceinline__ void wait(unsigned long long* b, unsigned phase) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" :: "r"(ADDR(b)), "r"(phase) : "memory"); }
__device__ __forceinline__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(ADDR(b)) : "memory"); }
extern "C" __global__ void k9227(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned long long full[3], empty[3]; __shared__ unsigned stage[3][32];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    if (t < 3) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(ADDR(&full[t])));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(ADDR(&empty[t])), "r"(nt / 32 - 1));
    }
    __syncthreads();
    unsigned at = 0, phase = 0;
    if (w == 0) {
        for (unsigned i = 0; i < n; i++) {
            wait(&empty[at], phase ^ 1);
            stage[at][l] = (l * (i + 3) + src[i * 16]) & 255;
            arrive(&full[at]);
            if (++at == 3) { at = 0; phase ^= 1; }
            if (phase) acc += s[(l * (at + 2)) & 1023];
        }
    } else {
        for (unsigned i = 0; i < n; i++) {
            wait(&full[at], phase);
            unsigned k = stage[at][(l * w) & 31];
            __syncwarp();
            if (l == (i & 31)) arrive(&empty[at]);
            s[(k * 4 + w) & 1023] = i;
            if (++at == 3) { at = 0; phase ^= 1; acc += s[(k * l) & 1023]; }
        }
    }
    s[(l * (at * 8 + phase)) & 1023] = acc;
    __syncthreads();
    acc += s[(l * stage[1][w] ) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
