// launch 2 32 n=1
// launch 4 64 n=2
// launch 3 48 n=3
// A barrier of the grid by an atomic counter and polling, twice; words of the other blocks, read past L1, are indices.
extern "C" __global__ void k9522(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned* count = out + 3100; unsigned* box = out + 3200;
    __syncthreads();
    for (unsigned round = 1; round <= 2; round++) {
        box[blockIdx.x * 32 + l] = (l * (blockIdx.x + round)) & 63;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            unsigned old = atomicAdd(count, 1), target = 3100 + round * gridDim.x;
            if (old + 1 != target) while (*(volatile unsigned*)count < target) __nanosleep(10);
            __threadfence();
        }
        __syncthreads();
        unsigned a = __ldcg(box + ((blockIdx.x + 1) % gridDim.x) * 32 + (l ^ 1));
        acc += s[(a * 4) & 1023];
        if (a & 4) s[(l * 2 + round) & 1023] = a;
        __syncthreads();
    }
    acc += s[(l * (__ldcg(count) - 3100)) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
