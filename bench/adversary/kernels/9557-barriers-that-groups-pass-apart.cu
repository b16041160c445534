// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 96 n=3
// Groups that a nap diverged come to barrier.sync, which does not promise that the warp comes together, where lanes may differ, and go on apart.
extern "C" __global__ void k9557(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    if (src[l + n] < 2000 + l) {
        if (src[l * 3 + n] & 1) { acc = s[(l * 3) & 1023]; __nanosleep(30); acc += s[(l * 5) & 1023]; }
        asm volatile("barrier.sync 1;" ::: "memory");
        acc += s[(l * 2) & 1023];
        s[((l >> 1) + (l & 1) * 32) & 1023] = acc;
        asm volatile("barrier.sync 1;" ::: "memory");
        acc += s[(l * 4) & 1023];
    }
    __syncthreads();
    acc += s[(l * 8) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
