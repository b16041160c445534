// launch 1 64 n=5
// launch 2 96 n=12
// launch 4 33 n=1
// launch 3 5x7x3 n=20
// both buffers are read and written in turn: b[i] = a[a[i]] and the two swap, for i below the threads of the block
// times two; the words above are never written, and jumps lead into both kinds; the array that holds the result
// hangs on n
extern "C" __global__ void k9862(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, base = blockIdx.x * 1024, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i * 13;
    __syncthreads();
    volatile unsigned* a = (volatile unsigned*)src + base;
    volatile unsigned* b = out + base;
    for (unsigned r = 0; r < n; r++) {
        for (unsigned i = t; i < 2 * nt; i += nt) {
            unsigned v = a[i] & 511;
            acc += s[(v * 2 + r) & 1023];
            unsigned w = a[v];
            acc += s[(w ^ r) & 1023];
            if ((w + i) % 3 != 0) b[i] = w + (r & 1) * 5;         // else the word of two rounds ago stays
        }
        acc += s[(b[2 * nt + ((t * 3 + r) & 63)] * 2) & 1023];    // above: never written
        __threadfence_block();
        __syncthreads();
        volatile unsigned* c = a;
        a = b;
        b = c;
    }
    acc += s[a[(t * 5) % (2 * nt)] & 1023];
    acc += s[b[(t * 3) % (2 * nt)] & 1023];
    acc += s[(a[511 + t] * 4) & 1023] + s[(b[1023 - t] * 2 + 1) & 1023];
    __syncthreads();
    out[base + t] = acc;
}
