// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 40 n=4
// Naps in branches and loops on which no address depends split warps; accesses behind them cost less in parts than together.
extern "C" __global__ void k9559(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned v = src[l * 3 + n];
    float g = f;
    if (v & 1) { g = g * 3.0f + __sinf(g); __nanosleep(30); g += 1.0f; }
    acc += s[(l * 2) & 1023];
    s[(l * 16) & 1023] = l;
    acc += s[((l >> 1) + (l & 1) * 32) & 1023];
    for (unsigned k = 0; k < (v & 3); k++) { g = g * g + 0.5f; if (k == 1) __nanosleep(20); }
    acc += s[(l * 4) & 1023];
    __syncwarp(__activemask());
    acc += s[(l * 8) & 1023];
    __syncthreads();
    acc += s[(l * 3) & 1023] + (g > 4.0f);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
