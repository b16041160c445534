// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 40 n=4
// Loops with __syncwarp and __nanosleep, lanes that continue, break and return, votes that end the loops.
extern "C" __global__ void k9040(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, all = __activemask();
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    for (unsigned i = 0; i < n; i++) {
        if ((l + i) % 4 == 0) { s[(l * 2 + i) & 1023] = i; __syncwarp(all); continue; }
        if ((l ^ i) & 2) { acc += s[(l * 3 + i) & 1023]; if (i == 1) __nanosleep(8); }
        __syncwarp(all);
        acc += s[(l * 4 + i * 32) & 1023];
    }
    s[(l * 5) & 1023] = acc;
    unsigned left = l % 5;
    while (__any_sync(all, left)) { if (left) { left--; acc += s[(l * 6 + left) & 1023]; } else s[(l * 8) & 1023] = acc; }
    for (unsigned i = 0; ; i++) {
        if (l > i * 8) { acc += s[(l + i * 5) & 1023]; if ((l & 3) == i) break; }
        else { s[(l * 7 + i) & 1023] = i; if (i > 2) break; }
        __syncwarp(__activemask());
    }
    acc += s[(l * 9) & 1023];
    __syncwarp(all);
    acc += s[(l * 10) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
