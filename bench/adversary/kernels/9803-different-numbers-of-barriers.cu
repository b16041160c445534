// launch 1 64 n=3
// launch 1 96 n=4
// Even and odd warps pass the block's barrier at different places: in branches, in loops, in a function, some twice in a row.
__device__ __noinline__ unsigned meet(unsigned* box, unsigned i) { __syncthreads(); return box[i]; }
extern "C" __global__ void k9803(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[2][96];
    box[0][t] = l; box[1][t] = 31 - l;
    if (w & 1) {
        unsigned v = meet(box[0], (t + 33) % T); acc += s[(v * 2) & 1023];
        box[1][t] = (v + n) & 31; __syncthreads(); __syncthreads();
        acc += s[(box[0][(t + 5) % T] * 4) & 1023];
    } else {
        acc += s[(t * 3) & 1023]; __syncthreads();
        for (unsigned k = 0; k < 2; k++) { box[0][t] = (box[0][t] * 3 + k) & 31; meet(box[1], t); }
        acc += s[(box[1][(t + 32) % T] * 8) & 1023];
    }
    for (unsigned k = 0; k < n + (w & 1) * 0; k++) { if ((k + w) & 1) { acc += s[(l * k) & 1023]; __syncthreads(); } else { __syncthreads(); acc += s[(box[k & 1][(t + 32 * k) % T] * 32) & 1023]; } }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
