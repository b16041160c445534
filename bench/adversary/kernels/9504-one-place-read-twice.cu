// launch 1 64 n=1
// launch 1 128 n=3
// launch 2 33 n=2
// Volatile words of shared and global memory that another thread changes between two loads; what differs decides.
extern "C" __global__ void k9504(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned word;
    volatile unsigned* there = out + 3000 + blockIdx.x * 8;
    if (t == 0) { word = src[n] & 7; *there = 2; }
    __threadfence(); __syncthreads();
    unsigned a = word, b = *there;
    __syncthreads();
    if (t == T - 1) { word = (src[n] & 7) + n; *there = 2 + n; }
    __threadfence(); __syncthreads();
    unsigned c = word, d = *there;
    if (a != c) acc += s[(l * 4) & 1023]; else acc += s[(l * 2) & 1023];
    if (b == d) s[(l * 8) & 1023] = 1; else s[(l * 3) & 1023] = 3;
    acc += s[(l * (c - a)) & 1023] + s[(l * (d - b) + 5) & 1023];
    for (unsigned k = a; k < c; k++) acc += s[(l * 5 + k) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
