// launch 1 32 n=1
// launch 2 96 n=3
// launch 1 40 n=2
// barrier.sync by diverged lanes, at different places in the code, then accesses by all.
extern "C" __global__ void k9005(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) s[k] = k * 5;
    __syncthreads();
    if (t & 1) { acc = s[(t * 2) & 1023]; asm volatile("barrier.sync 0;" ::: "memory"); s[(t * 4) & 1023] = acc; }
    else { s[(t * 3) & 1023] = t; asm volatile("barrier.sync 0;" ::: "memory"); acc = s[(t + 7) & 1023]; }
    acc += s[(t * 6) & 1023];
    asm volatile("barrier.sync 0;" ::: "memory");
    for (unsigned i = 0; i < 3; i++) {
        if ((t + i) % 3 == 0) { asm volatile("barrier.sync 0;" ::: "memory"); acc ^= s[(t * 5 + i) & 1023]; }
        else { s[(t + 64 * i) & 1023] = acc; asm volatile("barrier.sync 0;" ::: "memory"); }
        s[(t * 2 + i) & 1023] = i;
    }
    out[(blockIdx.x * nt + t) & 2047] = acc;
}
