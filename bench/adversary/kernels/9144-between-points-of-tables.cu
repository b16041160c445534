// launch 1 32 n=1
// launch 1 16x5 n=2
// launch 2 71 n=3
// Interpolation: bilinear in a table with a pitch, cubic at clamped knots, knots of uneven width found by search; fractions are exact.
extern "C" __global__ void k9144(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float grid[33 * 32], knot[33], slope[33];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y, acc = 0, pitch = 31 + n;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 33 * 32; k += size) grid[k] = (float)(k * 5 & 63);
    for (unsigned k = t; k < 33; k += size) { knot[k] = (float)(k * (k + 1) / 2); slope[k] = (float)(k & 3); }
    __syncthreads();
    float x = (float)t * 0.375f * f, y = (float)(t * n) * 0.25f;
    x -= floorf(x * 0.0625f) * 16.0f;
    y = y - truncf(y / 16.0f) * 16.0f;
    float fx = x - floorf(x), fy = y - floorf(y);
    unsigned ix = (unsigned)x, iy = __float2uint_rd(y);
    const float* cell = grid + iy * pitch + ix;
    float low = cell[0] * (1.0f - fx) + cell[1] * fx, high = cell[pitch] * (1.0f - fx) + cell[pitch + 1] * fx;
    float v = low * (1.0f - fy) + high * fy;
    acc += s[__float2uint_rz(v * 8.0f) & 1023];
    float z = v * 4.0f, sum = 0.0f;
    int low_knot = 0, high_knot = 32;
    while (high_knot - low_knot > 1) {
        int middle = (low_knot + high_knot) >> 1;
        if (knot[middle] <= z) low_knot = middle; else high_knot = middle;
    }
    for (int d = -1; d <= 2; d++) sum += slope[min(max(low_knot + d, 0), 32)] * (z - knot[low_knot]);
    s[(unsigned)(low_knot * 32 + (int)rintf(fx * 8.0f)) & 1023] = t;
    acc += s[(unsigned)(int)sum & 1023];
    if (fx != 0.0f && fy <= fx) acc += s[(unsigned)(int)ldexpf(fx, 5) * 8 & 1023];
    unsigned bits = __float_as_uint(x + 256.0f);  // the integer and fraction as bits of the mantissa
    acc += s[((bits >> 15 & 255) * 4 + (bits >> 12 & 7)) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
