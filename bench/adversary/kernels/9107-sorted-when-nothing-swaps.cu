// launch 1 32 n=40
// launch 1 64 n=96
// launch 1 39 n=61
// Comb sort with gaps shrunk by a float, then odd-even transposition until no thread has swapped.
extern "C" __global__ void k9107(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned short a[128];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, rounds = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k ^ 21;
    for (unsigned k = t; k < n; k += size) a[k] = (unsigned short)((src[k] * 181 + 7) % 509);
    __syncthreads();
    unsigned gap = n;
    while (gap > 2) {
        gap = (unsigned)((float)gap / f);
        unsigned pairs = n - gap;
        for (unsigned parity = 0; parity < 2; parity++) {
            for (unsigned i = t; i < pairs; i += size)
                if (((i / gap) & 1) == parity) {
                    unsigned short x = a[i], y = a[i + gap];
                    if (x > y) { a[i] = y; a[i + gap] = x; }
                }
            __syncthreads();
        }
    }
    bool again;
    do {
        bool swapped = false;
        for (unsigned parity = 0; parity < 2; parity++) {
            for (unsigned i = 2 * t + parity; i + 1 < n; i += 2 * size) {
                unsigned short x = a[i], y = a[i + 1];
                if (x > y) { a[i] = y; a[i + 1] = x; swapped = true; }
            }
            __syncthreads();
        }
        rounds++;
        if (swapped) s[(t * 2 + rounds) & 1023] = rounds;
        again = __syncthreads_or(swapped);
    } while (again);
    acc += s[(t * rounds) & 1023];
    acc += s[(a[t % n] * 2u) & 1023];
    unsigned spread = a[n - 1] - a[n / 2];
    acc += s[(t * (spread & 31)) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc + rounds;
}
