// launch 2 32 n=7
// launch 3 64 n=5
// Blocks draw items from a counter by atomicInc with a limit until none is left; another counter counts what was done.
extern "C" __global__ void k9524(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned item;
    unsigned* counter = (unsigned*)src + 2049;
    unsigned first = 0;
    for (unsigned guard = 0; guard < 32; guard++) {
        if (t == 0) item = atomicInc(counter, 5000);
        __syncthreads();
        unsigned a = item;
        __syncthreads();
        if (!first) first = a;
        if (a >= first + n) break;
        acc += s[(l * (a & 3)) & 1023];
        s[(l * 2 + (a & 1)) & 1023] = a;
    }
    acc += s[(l * 3) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
