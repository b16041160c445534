// launch 1 32 n=3
// launch 1 64 n=5
// Lanes that naps have made diverge hand values on through shared memory, without __syncwarp, with part of one, with all.
extern "C" __global__ void k9810(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[64];
    box[t] = l;
    __syncthreads();
    if (l & 1) __nanosleep(3000);
    box[t] = (l * 3 + n) & 31;
    unsigned a = *(volatile unsigned*)&box[t ^ 1];
    acc += s[(a * 2) & 1023];
    __syncwarp();
    acc += s[(box[t ^ 1] * 4) & 1023];
    if (l % 3 == 0) { __nanosleep(500); box[t] = 5; __syncwarp(0x49249249); acc += s[(box[w * 32 + (l + 3) % 33 % 32] * 8 + l) & 1023]; }
    else { acc += s[(box[t ^ 2] * 16) & 1023]; }
    __syncwarp();
    acc += s[(box[w * 32 + 31 - l] * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
