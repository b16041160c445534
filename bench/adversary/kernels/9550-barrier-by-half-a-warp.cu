// launch 1 32 n=1
// launch 1 64 n=2
// Lanes come to barrier.sync at different instructions, some of them twice, while the others of their warp have ended or come once.
extern "C" __global__ void k9550(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    if (l < 16) {
        acc += s[(l * 2) & 1023];
        asm volatile("barrier.sync 1;" ::: "memory");
        s[(l * 4) & 1023] = acc;
    } else {
        acc += s[(l * 3) & 1023];
        asm volatile("barrier.sync 1;" ::: "memory");
        acc += s[(l * 8) & 1023];
    }
    acc += s[(l * 5) & 1023];
    if (l >= 16 + n) return;
    if (l & 1) { asm volatile("barrier.sync 2;" ::: "memory"); acc += s[(l * 6) & 1023]; }
    else { acc += s[(l * 7) & 1023]; asm volatile("barrier.sync 2;" ::: "memory"); }
    s[(l * 9) & 1023] = acc;
    asm volatile("barrier.sync 3;" ::: "memory");
    acc += s[(l * 10) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
