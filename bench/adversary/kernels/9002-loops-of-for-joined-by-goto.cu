// launch 1 32 n=3
// launch 1 33 n=6
// launch 2 96 n=9
// Structured loops with their own convergence barriers, and a goto from the middle of each into the other.
extern "C" __global__ void k9002(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], r[1024];
    unsigned t = threadIdx.x, i = 0, j = 0, acc = 0, turns = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) { s[k] = k; r[k] = k * 3; }
    __syncthreads();
again:
    for (; i < (t & 7) + 1; i++) {
        acc += s[(t + i * 33) & 1023];
        for (unsigned k = 0; k < (t & 3); k++) {
            acc += r[(t * 2 + k) & 1023];
            if (((t ^ k) & 7) == 5 && turns < 3) { turns++; goto other; }
        }
        if ((t + i) % 5 == 4 && turns < 2) { turns++; goto inner; }
    }
    goto done;
other:
    for (j = 0; j < (t >> 2 & 3) + 1; j++) {
        s[(t * 4 + j) & 1023] = acc;
inner:
        r[(t + j * 8) & 1023] ^= i;
        if (j == 2 && (t & 1)) { i++; goto again; }
        if (((t + j) & 15) == 9) break;
    }
    if (turns < n && (t & 2)) { turns++; i++; goto again; }
done:
    s[(t * 3 + turns) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc + i + j;
}
