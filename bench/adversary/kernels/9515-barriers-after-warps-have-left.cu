// launch 1 128 n=1
// launch 1 100 n=2
// A warp has ended before the others meet at __syncthreads, at barriers that answer, and hand on what it left behind.
extern "C" __global__ void k9515(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned left[128];
    left[t] = (t * 5 + n) & 63;
    __syncthreads();
    if (w == 1) { left[t] = (t * 7) & 63; s[(l * 3) & 1023] = 2; return; }
    unsigned sum = __syncthreads_count(l < 3 * n);
    acc += s[(l * (sum & 31)) & 1023];
    unsigned a = left[(t ^ 32) & 127];
    acc += s[(a * 2) & 1023];
    if (__syncthreads_or(a == 5)) s[(l * 4) & 1023] = a;
    if (w == 2 && l < 20) return;
    sum = __syncthreads_count(1);
    acc += s[(l * (sum & 15)) & 1023];
    if (__syncthreads_and(l > 19 || w != 2)) acc += s[(l * 6) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
