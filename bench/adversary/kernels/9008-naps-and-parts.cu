// launch 1 32 n=1
// launch 2 64 n=2
// launch 1 20 n=3
// __nanosleep in branches, then __syncwarp of halves, of quarters, of one lane and of all lanes.
extern "C" __global__ void k9008(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned all = __activemask();
    if (l & 1) { __nanosleep(20); acc += s[(l * 2) & 1023]; } else { s[(l * 3) & 1023] = 1; __nanosleep(40); }
    unsigned half = (l < 16 ? 0xFFFFu : 0xFFFF0000u) & all;
    __syncwarp(half);
    s[(l * 4 + 1) & 1023] = acc;
    if (l < 16) { acc += s[(l * 8) & 1023]; __syncwarp(0xFFFFu & all); s[(l * 2 + 5) & 1023] = acc; }
    else { if (l & 2) { acc += s[(l * 16) & 1023]; __nanosleep(10); } __syncwarp(0xFFFF0000u & all); acc += s[(l * 5) & 1023]; }
    unsigned quarter = (0xFFu << (l & 24)) & all;
    if ((l & 7) != n) s[(l * 6) & 1023] = 2;
    __syncwarp(quarter);
    acc += s[(l * 7) & 1023];
    __syncwarp(1u << l);
    acc += s[(l * 9) & 1023];
    __syncwarp(all);
    s[(l * 10) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
