// launch 4 32 n=2
// launch 6 64 n=1
// Tickets from one counter drawn once per block, and items drawn until none is left; their numbers are pitches.
extern "C" __global__ void k9523(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned mine;
    unsigned* counter = (unsigned*)src + 2048;
    if (t == 0) mine = atomicAdd(counter, 1);
    __syncthreads();
    unsigned a = mine - 1024;
    acc += s[(l * (a & 15)) & 1023];
    if (a & 1) s[(l * 2) & 1023] = a;
    for (unsigned k = 0; k < (a & 3); k++) acc += s[(l * 4 + k) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
