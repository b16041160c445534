// launch 1 32 n=3
// launch 2 70 n=5
// launch 1 128 n=8
// Two loops, each of which jumps into the other; the lanes of a warp take different numbers of trips.
extern "C" __global__ void k9001(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], r[1024];
    unsigned t = threadIdx.x, i = 0, j = 0, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) { s[k] = k; r[k] = k * 3; }
    __syncthreads();
first:
    acc += s[(t * 3 + i) & 1023];
    i++;
    if (((t + i) & 3) == 0) goto into_second;
    if (i < (t & 7) + 2) goto first;
    goto done;
second:
    acc ^= r[(t * 2 + j) & 1023];
into_second:
    s[(t * 5 + j * 32) & 1023] = acc;
    j++;
    if (j < t % 5) goto second;
    if (i < n + (t & 1)) goto first;
done:
    r[(t * 4 + i) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc + i + j;
}
