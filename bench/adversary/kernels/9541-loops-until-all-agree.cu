// launch 1 64 n=1
// launch 1 96 n=3
// launch 2 80 n=2
// Loops that end when a barrier says that no thread has work left; words that lanes pass on decide how long each has work.
extern "C" __global__ void k9541(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned work[2][96];
    work[0][t] = src[t * n] & 7; work[1][t] = 0;
    __syncthreads();
    unsigned round = 0;
    while (__syncthreads_or(work[round & 1][t] != 0)) {
        unsigned have = work[round & 1][t], left = (t + T - 1) % T;
        unsigned next = have ? have - 1 : (round < 4 ? work[round & 1][left] >> 2 : 0);
        acc += s[(l * have) & 1023];
        if (have & 1) s[(l * 2 + round) & 1023] = next;
        work[(round + 1) & 1][t] = next;
        if (++round > 30) break;
    }
    acc += s[(l * round) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
