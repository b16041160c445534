// launch 1 64 n=3
// launch 2 48 n=2
// im2col with kernel width, stride, padding and dilation from parameters: chains of divisions, guarded loads, stores in columns.
extern "C" __global__ void k9725(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned image[16 * 17], column[1024];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned i = t; i < 256; i += T) image[i / 16 * 17 + i % 16] = src[i];
    __syncthreads();
    int K = n, stride = 1 + (n & 1), pad = n / 2, dilation = 3 - (int)(n & 1) * 2, O = (16 + 2 * pad - dilation * (K - 1) - 1) / stride + 1;
    for (int i = t; i < K * K * O; i += T) {
        int ox = i % O, k = i / O, kx = k % K, ky = k / K, ix = ox * stride - pad + kx * dilation, iy = (int)blockIdx.x * stride - pad + ky * dilation;
        unsigned v = 0;
        if (ix >= 0 && iy >= 0 && ix < 16 && iy < 16) v = image[iy * 17 + ix];
        column[(k * O + ox) & 1023] = v;
    }
    __syncthreads();
    for (int k = 0; k < K * K; k++) if ((int)t < O) acc += column[(k * O + t) & 1023];
    for (int k = t; k < K * K; k += T) acc += column[(k * O) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
