// launch 1 16x8 n=3
// launch 1 64 n=2
// A summed-area table by rows and columns, box filters by four corners that are clamped, medians by networks of min and max.
extern "C" __global__ void k9797(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned sat[17][17], s[1024];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    for (unsigned i = t; i < 289; i += T) { unsigned y = i / 17, x = i % 17; sat[y][x] = x && y ? src[y * 16 + x] & 7 : 0; }
    __syncthreads();
    if (t < 17) for (unsigned x = 1; x < 17; x++) sat[t][x] += sat[t][x - 1];
    __syncthreads();
    if (t < 17) for (unsigned y = 1; y < 17; y++) sat[y][t] += sat[y - 1][t];
    __syncthreads();
    for (unsigned i = t; i < 256; i += T) {
        int y = i >> 4, x = i & 15, r = n, x0 = max(x - r, 0), x1 = min(x + r + 1, 16), y0 = max(y - r, 0), y1 = min(y + r + 1, 16);
        unsigned sum = sat[y1][x1] - sat[y0][x1] - sat[y1][x0] + sat[y0][x0];
        acc += s[sum & 1023] + s[(sum / ((x1 - x0) * (y1 - y0))) * 32 + x];
        unsigned a = src[i], b = src[i + 1], c = src[i + 2], m = max(min(a, b), min(max(a, b), c)); acc += s[m];
    }
    out[t] = acc;
}
