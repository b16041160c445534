// launch 1 64 n=1
// launch 2 128 n=2
// Warps that spin until another has written, locks taken by one lane, and loads under them.
extern "C" __global__ void k9024(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; __shared__ volatile unsigned flag[8]; __shared__ unsigned lock, turn;
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t < 8) flag[t] = 0;
    if (t == 0) { lock = 0; turn = 0; }
    __syncthreads();
    if (w) { while (flag[w - 1] == 0) { } }
    acc += s[(l * 2) & 1023];
    __syncwarp();
    if (l == 0) flag[w] = 1;
    if (l == 0) { while (atomicCAS(&lock, 0, 1)) { } turn = turn + 1; __threadfence_block(); atomicExch(&lock, 0); }
    __syncwarp();
    acc += s[(turn * 4 + l) & 1023];
    s[(l * 8) & 1023] = acc;
    __syncthreads();
    acc += s[(turn * l) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
