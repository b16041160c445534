// launch 1 32x2 n=0
// launch 1 16x6 n=1
// launch 2 20x4 n=2
// A separable convolution: rows into an intermediate that is transposed, columns from it; the border mode from n, dilation by the row.
__constant__ short taps[3][5] = {{1, 4, 6, 4, 1}, {-1, 0, 2, 0, -1}, {0, 3, 0, 5, 7}};
__device__ __forceinline__ int border(int i, int size, unsigned mode) {
    switch (mode) {
    case 0: return min(max(i, 0), size - 1);
    case 1: return i < 0 ? -i - 1 : i >= size ? 2 * size - 1 - i : i;
    default: return (i % size + size) % size;
    }
}
extern "C" __global__ void k9118(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ short image[1024];
    __shared__ int middle[1024];
    __shared__ unsigned s[1024];
    int x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, t = y * w + x, size = w * h, rows = 4 * h;
    unsigned acc = 0;
    for (int k = t; k < 1024; k += size) s[k] = k * 11;
    for (int k = t; k < w * rows; k += size) image[k] = (short)(src[(k * 5) & 2047] & 63);
    __syncthreads();
    for (int row = y; row < rows; row += h) {
        int sum = 0, dilation = 1 + (row & 1) * (w > 16);
#pragma unroll
        for (int d = -2; d <= 2; d++) sum += taps[n][d + 2] * image[row * w + border(x + d * dilation, w, n)];
        middle[x * (rows | 1) % 1000 + row % 24] = sum;
    }
    __syncthreads();
    for (int c = y; c < 2 * h; c += h) {
        int sum = 0;
#pragma unroll 1
        for (int d = -2; d <= 2; d++) sum += taps[2 - n][d + 2] * middle[x * (rows | 1) % 1000 + border(c + d, rows, 2 - n) % 24];
        acc += s[(unsigned)(sum >> 4) & 1023];
        s[(unsigned)(sum >> 8) * 32 + c & 1023] = x;
    }
    acc += s[(unsigned)(image[border(t - 3, size, n)] * (int)(n + 1)) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
