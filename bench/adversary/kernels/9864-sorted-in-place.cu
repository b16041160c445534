// launch 1 256 n=14
// launch 2 96 n=11
// launch 4 33 n=300
// launch 2 5x7x3 n=5
// insertion sort of words 1 to 14 of each thread's sixteen, in place, each key and each word passed an index; then
// the vectors of out trade places and rotate: values that moved, words rewritten with what they held, and ends
// that stay
extern "C" __global__ void k9864(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = 2000 - i;
    __syncthreads();
    unsigned r = (blockIdx.x * nt + t) * 16, last = n < 14 ? n : 14;
    volatile unsigned* h = (volatile unsigned*)src + r;
    for (int i = 2; i <= (int)last; i++) {
        unsigned key = h[i];                                      // not yet touched
        acc += s[(key * 2) & 1023];
        int j = i - 1;
        while (j >= 1) {
            unsigned v = h[j];
            acc += s[v & 1023];
            if (v <= key) break;
            h[j + 1] = v;
            j--;
        }
        h[j + 1] = key;                                           // where it was, for keys in order
    }
    acc += s[(h[1 + (l & 7)] * 4) & 1023];
    acc += s[(h[(l & 1) ? 0 : 15] * 2 + l) & 1023];               // the ends stay
    acc += s[(h[14] + h[1]) & 1023];                              // 14 is sorted for n of 14 and more only
    uint4* q = (uint4*)(out + r);
    volatile unsigned* g = out + r;
    uint4 a = q[0], b = q[2];
    if (h[2] & 1) { q[0] = b; q[2] = a; }                         // the sorted word decides
    acc += s[(g[l & 3] * 2) & 1023] + s[(g[8 + (l & 3)] >> 1) & 1023];
    acc += s[g[4 + (l & 3)] & 1023];                              // between them
    for (unsigned k = 0; k < (n & 3) + 1; k++) {
        unsigned first = g[4];
        for (unsigned j = 4; j < 7; j++) g[j] = g[j + 1];
        g[7] = first;
        acc += s[(g[4 + k] * 4 + (g[12 + k % 3] & 3)) & 1023];    // with four trips they are home again
    }
    acc += s[(g[4 + (l & 3)] >> 2) & 1023] + s[(g[12 + (l % 3)] >> 4) & 1023];
    g[15] = acc;
}
