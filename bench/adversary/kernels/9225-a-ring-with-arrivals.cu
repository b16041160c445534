// launch 1 64 n=6
// launch 2 128 n=5
// launch 1 96 n=9
// One producer warp fills a ring of two buffers; consumer warps read indices from it: bar.arrive against bar.sync, full and empty.
#define SYNC(id) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(nt) : "memory")
#define ARRIVE(id) asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(nt) : "memory")
extern "C" __global__ void k9225(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned ring[2][64];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    if (w == 0) {
        for (unsigned i = 0; i < n; i++) {
            if (i >= 2) SYNC(3 + (i & 1));
            ring[i & 1][l] = src[i * 8] * 3 + l * (i + 1);
            ring[i & 1][l + 32] = (l ^ i) & 7;
            if (i % 3 == 2) acc += s[(l * i) & 1023];
            __threadfence_block();
            ARRIVE(1 + (i & 1));
        }
        s[(l * n) & 1023] = acc;
    } else {
        unsigned seen = 0;
        for (unsigned i = 0; i < n; i++) {
            SYNC(1 + (i & 1));
            unsigned k = ring[i & 1][(l + w) & 31], step = ring[i & 1][32 + (l & 3) * w];
            if (i + 2 < n) ARRIVE(3 + (i & 1));
            acc += s[(k * 2) & 1023];
            if (step > 3) { seen += step; s[(l * step + w * 32) & 1023] = i; if (seen > 20 && (l & 1)) acc += s[(seen * l) & 1023]; }
        }
        acc += s[(l * (seen & 31)) & 1023];
    }
    __syncthreads();
    acc += s[(l * ring[0][5] + w) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
