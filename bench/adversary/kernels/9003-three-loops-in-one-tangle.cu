// launch 1 32 n=1
// launch 1 64 n=4
// launch 1 57 n=7
// Three loops with several entries, left from two levels, in a function that some lanes call.
__device__ __noinline__ unsigned tangle(unsigned* s, unsigned t, unsigned n) {
    unsigned i = 0, acc = t, fuel = 12;
    if (t & 4) goto c;
a:  do {
        acc += s[(t * 2 + i) & 511];
        i++;
b:      s[512 + ((t + i * 32) & 511)] = acc;
        if (--fuel == 0) return acc;
        while (i < (t & 3) + n) {
            i++;
c:          acc ^= s[(t * 8 + i) & 511];
            if (--fuel == 0) return acc + 1;
            if ((i ^ t) & 4) goto b;
            if (((i + t) & 7) == 7) goto out;
        }
    } while (i < 6);
    if (t & 1) { i = 0; if (fuel > 4) goto a; }
out:
    s[512 + ((t * 3) & 511)] = fuel;
    return acc + fuel;
}
extern "C" __global__ void k9003(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 7;
    __syncthreads();
    if (t % 3) acc = tangle(s, t, n & 3);
    s[(t * 2 + 1) & 1023] = acc;
    acc += tangle(s, t ^ 1, 2);
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc + s[(t * 33) & 1023];
}
