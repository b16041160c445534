// launch 1 64 n=3
// launch 1 16x4 n=2
// Gradient noise: a permutation applied three times, floors of floats, masks, fades; marching cubes by corner bits and tables.
extern "C" __global__ void k9796(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char perm[512]; __shared__ float grid[5][5][5]; __shared__ unsigned s[1024];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    for (unsigned i = t; i < 512; i += T) perm[i] = (i * 167 + 13) & 255;
    for (unsigned i = t; i < 125; i += T) grid[i / 25][i / 5 % 5][i % 5] = (float)(src[i] & 31) - 16.f;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) {
        float x = (float)t * 0.37f + (float)k * f, y = (float)k * 1.7f - 3.f, z = (float)(t & 7) * 0.9f;
        int X = (int)floorf(x) & 255, Y = (int)floorf(y) & 255, Z = (int)floorf(z) & 255;
        unsigned A = perm[X] + Y, AA = perm[A] + Z, B = perm[X + 1] + Y, h = perm[AA] & 15;
        acc += perm[perm[B] + Z + 1] + s[h * 64 + (t & 31)];
    }
    unsigned c = t & 63, cx = c & 3, cy = c >> 2 & 3, cz = c >> 4, bits = 0;
    for (int i = 0; i < 8; i++) bits |= (grid[cz + (i >> 2)][cy + (i >> 1 & 1)][cx + (i & 1)] < 0.f) << i;
    acc += s[bits * 4]; for (; bits; bits &= bits - 1) acc += s[(__ffs(bits) * 32 + c) & 1023];
    out[t] = acc;
}
