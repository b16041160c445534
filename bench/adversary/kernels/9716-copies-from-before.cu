// launch 1 32 n=6
// launch 1 64 n=9
// LZ-like copies: each (distance, length) reads what was just written, in parallel where it does not overlap itself.
extern "C" __global__ void k9716(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned char text[1024];
    unsigned at = 16;
    if (t < 16) text[t] = t * 3;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        unsigned token = src[k * 9], distance = token % 13 + 1, length = (token >> 4) % 37 + 4;
        for (unsigned i = t; i < length; i += T) {
            unsigned from = distance >= length ? at - distance + i : at - distance + i % distance;
            text[(at + i) & 1023] = text[from & 1023];
        }
        __syncthreads();
        at += length;
    }
    acc += s[(text[(t * 5) % at & 1023] * 4 + l) & 1023] + s[text[t] * 8 & 1023];
    const unsigned* words = (const unsigned*)text;
    acc += words[t & 255] + *(const unsigned*)&text[(t * 12) & 1020];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
