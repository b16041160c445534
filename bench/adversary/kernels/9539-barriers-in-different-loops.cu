// launch 1 64 n=2
// launch 1 128 n=3
// launch 1 96 n=4
// Two halves of a block run different code and meet at the same barrier at different instructions; words go back and forth.
extern "C" __global__ void k9539(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned ping[64], pong[64];
    if (t < 64) { ping[t] = 1; pong[t] = 2; }
    __syncthreads();
    if (w & 1) {
        for (unsigned i = 0; i < n; i++) {
            if (w == 1) ping[l] = (l * (i + 3)) & 31;
            asm volatile("bar.sync 0;" ::: "memory");
            acc += s[(l * (i + 1)) & 1023];
            asm volatile("bar.sync 0;" ::: "memory");
            unsigned a = pong[l ^ 1];
            acc += s[(a * 8) & 1023];
        }
        asm volatile("bar.sync 0;" ::: "memory");
    } else {
        unsigned i = 0;
        do {
            asm volatile("bar.sync 0;" ::: "memory");
            unsigned a = ping[(l + i) & 31];
            acc += s[(a * 4) & 1023];
            if (w == 0) pong[l] = (a + 1) & 31;
            asm volatile("bar.sync 0;" ::: "memory");
            if (a & 1) s[(l * 2) & 1023] = i;
        } while (++i < n);
        asm volatile("bar.sync 0;" ::: "memory");
    }
    acc += s[(pong[l] * 2) & 1023] + s[(ping[n] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
