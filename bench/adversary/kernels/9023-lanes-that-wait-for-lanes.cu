// launch 1 32 n=1
// launch 1 64 n=2
// Lanes that spin until others of their warp have written, and continue alone.
extern "C" __global__ void k9023(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; __shared__ volatile unsigned flag[64];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t < 64) flag[t] = 0;
    __syncthreads();
    if (l & 1) { while (flag[t - 1] == 0) { } acc += s[(l * 2) & 1023]; }
    else { s[(l * 4) & 1023] = 1; __threadfence_block(); flag[t] = 1; acc += s[(l * 3) & 1023]; }
    s[(l * 5) & 1023] = acc;
    __syncwarp();
    s[(l * 6) & 1023] = acc;
    if (l >= 8) while (flag[t & ~31u | (l - 8)] < n && l < 16) { if (flag[t & ~31u] != 0) break; }
    acc += s[(l * 7) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
