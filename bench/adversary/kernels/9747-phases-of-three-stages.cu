// launch 1 96 n=7
// launch 1 64 n=3
// launch 1 160 n=5
// One warp produces, the others consume at their own rates; full and empty mbarriers of three stages with phase bits.
#define INIT(b, c) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(c) : "memory")
#define ARRIVE(b) asm volatile("{ .reg .b64 x; mbarrier.arrive.shared.b64 x, [%0]; }" :: "r"(b) : "memory")
#define WAIT(b, p) asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @q bra D; bra L; D: }" :: "r"(b), "r"(p) : "memory")
extern "C" __global__ void k9747(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned long long full[3], empty[3];
    __shared__ unsigned data[3][33];
    unsigned fb = (unsigned)__cvta_generic_to_shared(full), eb = (unsigned)__cvta_generic_to_shared(empty);
    if (t == 0) { for (int i = 0; i < 3; i++) { INIT(fb + i * 8, 32); INIT(eb + i * 8, T - 32); } }
    __syncthreads();
    unsigned stage = 0, phase = 0;
    if (w == 0) {
        for (unsigned k = 0; k < n; k++) {
            WAIT(eb + stage * 8, phase ^ 1);
            data[stage][l] = (l * 3 + k) & 31;
            ARRIVE(fb + stage * 8);
            if (++stage == 3) { stage = 0; phase ^= 1; }
        }
    } else {
        for (unsigned k = 0; k < n; k++) {
            WAIT(fb + stage * 8, phase);
            unsigned v = data[stage][(l * w) & 31];
            ARRIVE(eb + stage * 8);
            acc += s[(v * w * 2) & 1023];
            if ((k + w) & 1) acc += s[(v * 32 + k) & 1023];
            stage = stage == 2 ? 0 : stage + 1; phase ^= stage == 0;
        }
    }
    __syncthreads();
    acc += data[n % 3][l];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
