// launch 1 96 n=3
// launch 1 128 n=2
// Two warps meet at a named barrier, a third stores without it, and a full barrier comes at the end of each trip or not.
extern "C" __global__ void k9802(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[4][32];
    for (unsigned k = 0; k < n; k++) {
        box[w & 3][l] = (l * (w + 1) + k) & 31;
        if (w < 2) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            unsigned mate = box[w ^ 1][l], third = box[2][l];
            acc += s[(mate * 4 + w) & 1023] + s[(third * 32) & 1023];
            asm volatile("bar.sync 1, 64;" ::: "memory");
            box[w][31 - l] = mate;
        } else if (k == 1) box[2][l ^ 1] = 7;
        if (k & 1) __syncthreads();
    }
    __syncthreads();
    acc += s[(box[0][l] * 8) & 1023] + s[(box[2][l] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
