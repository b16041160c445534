// launch 1 4x4x2 n=7
// launch 3x2 5x3x3 n=9
// launch 1x1x2 8x2x4 n=6
// Arrays of arrays in three dimensions with a pitch known at run time, rows of pointers to pointers, indices folded from 3D blocks.
extern "C" __global__ void k9305(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char grid[6][10][13];
    __shared__ unsigned* rows[16];
    __shared__ unsigned** slabs[4];
    unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, T = blockDim.x * blockDim.y * blockDim.z;
    unsigned t = (z * blockDim.y + y) * blockDim.x + x, b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 16; k += T) rows[k] = s + k * (32 + n) % 600;
    for (unsigned k = t; k < 4; k += T) slabs[k] = rows + k * 3;
    for (unsigned k = t; k < 780; k += T) (&grid[0][0][0])[k] = (unsigned char)(k * n >> 2);
    __syncthreads();
    acc += slabs[z & 3][y & 3][x * 8];
    acc += slabs[(x + b) & 3][z & 3][y * 4 + n];
    unsigned (*view)[11] = (unsigned (*)[11])s;
    acc += view[t % 90][(y + z) % 11];
    acc += grid[z][y][x] + s[grid[x % 6][z][y] * 4 & 1023];
    unsigned pitch = n * blockDim.x + 1, slab = pitch * blockDim.y;
    s[(z * slab + y * pitch + x) & 1023] = acc;
    acc += s[(x * slab + z * pitch + y) & 1023];
    __syncthreads();
    if (grid[y][z][x] & 4) rows[t & 15] = &view[grid[0][0][t & 15] % 50][grid[0][1][t & 15] & 7];
    __syncthreads();
    unsigned** p = slabs[y & 3];
    for (unsigned i = 0; i <= (x & 3); i++, p++) acc += (*p)[(t + i) & 31];
    unsigned flat = b * T + t, fx = flat % n, fy = flat / n % (n + 2), fz = flat / (n * (n + 2));
    acc += s[((fz * 17 + fy) * 16 + fx * 2) & 1023];
    out[flat & 2047] = acc;
}
