// launch 1 64 n=3
// launch 2 128 n=2
extern "C" __global__ void k9821(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned table[256], s[4096]; __shared__ unsigned long long bar[2];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    unsigned b0 = (unsigned)__cvta_generic_to_shared(bar);
    table[t] = (t * 17) & 127; for (unsigned i = t; i < 4096; i += T) s[i] = i;
    if (!t) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b0), "r"(T) : "memory"); asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b0 + 8), "r"(T) : "memory"); }
    __syncthreads();
    for (unsigned k = 0; k < n; ++k) {
        acc += s[(table[t] * 4 + k) & 4095];
        asm volatile("{ .reg .b64 z; mbarrier.arrive.shared.b64 z, [%0]; }" :: "r"(b0 + 8 * (k & 1)) : "memory");
        unsigned done = 0;
        while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b0 + 8 * (k & 1)), "r"((k >> 1) & 1) : "memory");
        __syncthreads();
        table[(t * 3) % T] = table[t] ^ k;
        __syncthreads();
    }
    if (!t) { asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b0) : "memory"); asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b0 + 8) : "memory"); bar[0] = 5; bar[1] = 3ull << 32; }
    __syncthreads();
    acc += s[((unsigned)bar[0] * t) & 4095] + s[((unsigned)(bar[1] >> 32) * t * 4) & 4095] + s[(table[t] * 8) & 4095];
    out[(blockIdx.x * T + t) & 1023] = acc;
}
