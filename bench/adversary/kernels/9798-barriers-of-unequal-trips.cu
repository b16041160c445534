// launch 1 128 n=3
// launch 1 96 n=5
// Warps run loops of different lengths: those with more trips meet at named barriers of computed counts, others arrive ahead.
extern "C" __global__ void k9798(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned W = T / 32, mine = n + w;
    for (unsigned k = 0; k < mine; k++) {
        unsigned there = k < n ? W : W - (k - n + 1);
        s[(t * 2 + k) & 1023] = w;
        asm volatile("barrier.sync %0, %1;" :: "r"(1 + (k & 1)), "r"(there * 32) : "memory");
        acc += s[(t * 3 + k) & 1023] + s[(there * l) & 1023];
    }
    asm volatile("bar.sync 0;" ::: "memory");
    if (w == 0) { for (unsigned k = 1; k < W; k++) asm volatile("bar.arrive %0, 64;" :: "r"(4 + k) : "memory"); acc += s[l * 32]; }
    else { acc += s[(t * 4) & 1023]; asm volatile("bar.sync %0, 64;" :: "r"(4 + w) : "memory"); acc += s[(t * 8) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
