// launch 1 128 n=1
// launch 1 128 n=2
// launch 2 192 n=3
// Pairs of warps meet at barriers whose numbers and trip counts the other warp left in shared memory.
#define SYNC(id, count) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory")
extern "C" __global__ void k9514(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[8][32], trips[8];
    box[w & 7][l] = (l + w) & 31;
    if (l == 0) trips[w & 7] = (w >> 1) + n;
    __syncthreads();
    unsigned mate = w ^ 1, most = trips[mate], id = 1 + (trips[mate] - n);
    for (unsigned k = 0; k < most; k++) {
        unsigned v = box[mate][(l + k) & 31];
        SYNC(id, 64);
        box[w][l] = (v * 3 + k) & 31;
        SYNC(id, 64);
        acc += s[(v * 8 + w) & 1023];
        if (box[mate][k] & 1) s[(l * 2 + k) & 1023] = v;
    }
    __syncthreads();
    acc += s[(l * box[7 % (T >> 5)][3]) & 1023] + s[(l * trips[1]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
