// launch 1 32 n=1
// launch 1 64 n=2
// Loops with a barrier that lanes of a warp run unlike numbers of times, the rest having come to one after the loop.
extern "C" __global__ void k9553(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned most = 1 + (src[l + n] & 1);
    for (unsigned k = 0; k < most; k++) {
        acc += s[(l * 2 + k) & 1023];
        asm volatile("barrier.sync 1;" ::: "memory");
        s[(l * 4 + k) & 1023] = acc;
    }
    if (most == 1) { acc += s[(l * 3) & 1023]; asm volatile("barrier.sync 1;" ::: "memory"); acc += s[(l * 8) & 1023]; }
    acc += s[(l * 5) & 1023];
    asm volatile("barrier.sync 1;" ::: "memory");
    acc += s[(l * 6) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
