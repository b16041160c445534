// launch 1 128 n=1
// launch 1 128 n=2
// One barrier number used in turn by all threads and by two warps, with counts that shared memory holds; arrivals without waiting between.
#define SYNC(id, count) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory")
extern "C" __global__ void k9549(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned count[4], box[128];
    if (t < 4) count[t] = t == 3 ? 64 : T;
    box[t] = l;
    __syncthreads();
    for (unsigned k = 0; k < 4; k++) {
        unsigned c = count[k];
        box[t] = (box[t] * 3 + k) & 31;
        if (c == T || w < 2) SYNC(2, c);
        unsigned v = box[(t ^ 32) & (c - 1)];
        acc += s[(v * 4) & 1023];
        if (c == T || w < 2) SYNC(2, c);
        if (v & 1) s[(l * 2) & 1023] = v;
    }
    if (w == 0) asm volatile("bar.arrive 5, %0;" :: "r"(T) : "memory"); else SYNC(5, T);
    acc += s[(box[l] * 8) & 1023];
    __syncthreads();
    acc += s[(l * box[n]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
