// launch 1 32 n=8
// launch 1 64 n=11
// launch 2 23 n=13
// Cholesky of a packed triangle with exact squares, then substitution forwards and backwards; Givens-like exchanges along a wavefront.
extern "C" __global__ void k9146(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float a[91], y[16];
    __shared__ unsigned order[16], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned i = t; i < n; i += size)
        for (unsigned j = 0; j <= i; j++) {  // L L^T, where L is 2 on the diagonal and 1 or 0 below
            float sum = 0.0f;
            for (unsigned k = 0; k <= j; k++) sum += (k == i ? 2.0f : (float)((i * k + i) & 1)) * (k == j ? 2.0f : (float)((j * k + j) & 1));
            a[i * (i + 1) / 2 + j] = sum;
        }
    if (t < 16) { y[t] = (float)(src[t * 11] & 7); order[t] = t; }
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        unsigned diagonal = k * (k + 3) / 2;
        if (t == 0) a[diagonal] = sqrtf(a[diagonal]);
        __syncthreads();
        for (unsigned i = k + 1 + t; i < n; i += size) a[i * (i + 1) / 2 + k] /= a[diagonal];
        __syncthreads();
        for (unsigned e = t; e < (n - k - 1) * (n - k) / 2; e += size) {  // the entries of the rest, by the root of a triangular number
            unsigned r = (unsigned)((sqrtf(8.0f * (float)e + 1.0f) - 1.0f) * 0.5f), c = e - r * (r + 1) / 2, i = k + 1 + r, j = k + 1 + c;
            a[i * (i + 1) / 2 + j] -= a[i * (i + 1) / 2 + k] * a[j * (j + 1) / 2 + k];
        }
        __syncthreads();
    }
    acc += s[(unsigned)(int)(a[(t * 5) % (n * (n + 1) / 2)] * 16.0f + (float)t) & 1023];
    for (unsigned k = 0; k < n; k++) {
        float pivot = y[k];
        __syncthreads();
        if (t > k && t < n) y[t] -= a[t * (t + 1) / 2 + k] * pivot;
        __syncthreads();
    }
    for (unsigned stage = 0; stage < 2 * n - 3; stage++) {  // pairs (row - 1, row), where row + stage is odd
        unsigned row = n - 1 - 2 * t + (stage & 1);
        if (2 * t <= n - 2 && row < n && row > 0 && y[row - 1] < y[row]) {
            float x = y[row]; y[row] = y[row - 1]; y[row - 1] = x;
            unsigned o = order[row]; order[row] = order[row - 1]; order[row - 1] = o;
            s[(row * 32 + stage) & 1023] = o;
        }
        __syncthreads();
    }
    acc += s[(order[t % n] * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
