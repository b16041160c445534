// launch 1 64 n=5
// launch 1 64 n=8
// A producer that only arrives and does not wait for its consumer may be a trip ahead, so that a slot is written again.
extern "C" __global__ void k9804(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned slot[2][32];
    if (w == 0) for (unsigned k = 0; k < n; k++) {
        slot[k & 1][l] = (l * (k + 1)) & 31; __threadfence_block();
        asm volatile("bar.arrive %0, 64;" :: "r"(1 + k % 8) : "memory");
    } else for (unsigned k = 0; k < n; k++) {
        asm volatile("bar.sync %0, 64;" :: "r"(1 + k % 8) : "memory");
        if (k == 1) __nanosleep(2000);
        unsigned v = slot[k & 1][(l + 1) & 31];
        acc += s[(v * 16 + k) & 1023];
    }
    __syncthreads();
    acc += s[(slot[0][l] * 4) & 1023] + s[(slot[1][l] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
