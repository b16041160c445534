// launch 1 256 n=40
// launch 2 96 n=200
// launch 4 33 n=7
// launch 2 5x7x3 n=33
// each thread has 16 words: the odd ones are overwritten trip by trip at places that earlier loads decide, the
// even ones stay, and whether a word of the last quarter has changed hangs on the trip: first-trip loads see the
// initial contents
extern "C" __global__ void k9854(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i ^ 85;
    __syncthreads();
    unsigned ring = (blockIdx.x * nt + t) * 16;
    volatile unsigned* g = out + ring;
    volatile unsigned* h = (volatile unsigned*)src + ring;
    unsigned v = n;
    for (unsigned k = 0; k < n; k++) {
        unsigned e = g[(k * 2) & 14];                             // even: as it was
        acc += s[((e >> 2) + k) & 1023];
        v = g[((e + v) & 15) | 1];                                // odd: as it was in the first trip only
        acc += s[(v ^ (k * 5)) & 1023];
        g[(((v >> 2) + k) & 15) | 1] = v * 3 + l + 1;
        if ((v & 3) == 0) g[((v >> 4) & 15) | 1] = l * 4;
        acc += s[(h[k & 7] * 2) & 1023];                          // the lower half of h: as it was
        acc += s[h[8 + (k & 7)] & 1023];                          // eight trips old, or new
        h[8 + ((k + 7) & 7)] = h[k & 7] + k * l;                  // behind the place just read
    }
    acc += s[(g[((n + 1) & 7) * 2] >> 1) & 1023];
    acc += s[g[15] & 1023];
    g[1] = acc;
}
