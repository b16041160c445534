// launch 1 64 n=1
// launch 1 96 n=2
// Loads before the next barrier of words that another warp stores at some time before it, through bar.arrive, flags and nothing.
#define SYNC(id, count) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory")
extern "C" __global__ void k9517(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[96]; __shared__ volatile unsigned flag;
    if (t < 96) box[t] = 1;
    if (t == 0) flag = 0;
    __syncthreads();
    if (w == 0) {
        unsigned a = box[l];
        acc += s[(l * a) & 1023];
        asm volatile("bar.arrive 3, %0;" :: "r"(T) : "memory");
    } else if (w == 1) {
        SYNC(3, T);
        box[l] = (l * 3 + n) & 31; box[l + 32] = 2;
        __threadfence_block();
        __syncwarp();
        if (l == 0) flag = 1;
    } else { SYNC(3, T); while (!flag) { } }
    if (w == 2) { unsigned b = box[l]; acc += s[(b * 8) & 1023]; if (box[l + 32] == 2) s[(l * 4) & 1023] = b; }
    __syncthreads();
    acc += s[(box[l] * 2) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
