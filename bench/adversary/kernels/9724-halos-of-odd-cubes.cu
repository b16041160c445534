// launch 2x1x2 5x7x3 n=2
// launch 1x2x1 8x4x2 n=3
// launch 1 3x3x9 n=4
// A three-dimensional tile with a halo of width n at run time, filled by a linear loop with two divisions; corners by clamps.
extern "C" __global__ void k9724(unsigned* out, const unsigned* src, unsigned n, float f) {
    extern __shared__ unsigned dummy[];
    __shared__ unsigned tile[6000];
    unsigned X = blockDim.x, Y = blockDim.y, Z = blockDim.z, x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    unsigned t = x + X * (y + Y * z), T = X * Y * Z, h = n > 2 ? 1 : n, px = X + 2 * h, py = Y + 2 * h, pz = Z + 2 * h, acc = 0;
    for (unsigned i = t; i < px * py * pz; i += T) {
        int gx = (int)(i % px + blockIdx.x * X) - (int)h, gy = (int)(i / px % py) - (int)h, gz = (int)(i / (px * py)) - (int)h;
        gx = gx < 0 ? 0 : gx; gy = gy < 0 ? 0 : gy > (int)Y - 1 ? Y - 1 : gy; gz = min(max(gz, 0), (int)Z - 1);
        tile[i] = src[(gx + gy * 16 + gz * 256) & 4095];
    }
    __syncthreads();
    for (int dz = -(int)h; dz <= (int)h; dz++) for (int dy = -(int)h; dy <= (int)h; dy++) {
        if (dz && dy) continue;
        acc += tile[(x + h) + px * ((y + h + dy) + py * (z + h + dz))];
    }
    for (int dx = -(int)h; dx <= (int)h; dx += 2) acc += tile[(x + h + dx) + px * ((y + h) + py * (z + h))];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
