// launch 1 64 n=5
// launch 1 40 n=3
// A tree walked with a stack in shared memory, one column per lane; lanes push none, one or two children.
extern "C" __global__ void k9718(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned short stack[12][64];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = src[i];
    __syncthreads();
    int top = 0;
    stack[top++][t] = 1;
    while (top > 0) {
        unsigned node = stack[--top][t];
        acc += s[(node * 3 + t) & 1023];
        if (node < (8u << (t % n))) {
            if ((node + t) % 5) stack[top++][t] = node * 2;
            if (s[(node * 7 + l) & 1023] & 1) stack[top++][t] = node * 2 + 1;
        }
        if (top > 10) break;
    }
    __syncwarp();
    acc += s[(acc & 31) * 32];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
