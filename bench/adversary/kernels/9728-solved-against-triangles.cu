// launch 1 32 n=9
// launch 1 64 n=17
// Forward and back substitution in a packed lower triangle and its transpose; rows by lane, one column after another.
extern "C" __global__ void k9728(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float L[32 * 33 / 2], x[32], y[32 * 4];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < n * (n + 1) / 2; i += T) L[i] = (float)(src[i] & 3) + 4.f;
    if (t < 32) x[t] = (float)(t + 1);
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        if (t == k) x[k] /= L[k * (k + 1) / 2 + k];
        __syncthreads();
        if (t > k && t < n) x[t] -= L[t * (t + 1) / 2 + k] * x[k];
        __syncthreads();
    }
    for (int k = (int)n - 1; k >= 0; k--) {
        if ((int)t == k) x[k] /= L[k * (k + 1) / 2 + k];
        __syncthreads();
        if ((int)t < k) x[t] -= L[k * (k + 1) / 2 + t] * x[k];
        __syncthreads();
    }
    if (t < n) { y[t * 4] = x[t]; for (unsigned k = t; k < n; k += 3) acc += (unsigned)L[k * (k + 1) / 2 + t]; }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
