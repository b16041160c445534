// launch 1 8x6 n=3
// launch 2 16x4 n=5
// launch 1 11x7 n=4
// A 3D stencil marches along z with three planes whose pointers rotate, and another whose slot is z modulo 3; loads one plane ahead.
extern "C" __global__ void k9117(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned p0[180], p1[180], p2[180], cube[3][9][18], s[512];
    unsigned x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, t = y * w + x, size = w * h, acc = 0;
    for (unsigned k = t; k < 512; k += size) s[k] = k;
    for (unsigned k = t; k < 180; k += size) p0[k] = p1[k] = p2[k] = k & 7;
    for (unsigned k = t; k < 486; k += size) (&cube[0][0][0])[k] = k % 5;
    __syncthreads();
    unsigned *below = p0, *here = p1, *above = p2, at = (y + 1) * (w + 2) + x + 1;
    here[at] = src[t] & 15;
    unsigned ahead = src[size + t & 2047] & 15;
    cube[0][y + 1][x + 1] = t & 3;
    for (unsigned z = 0; z < n; z++) {
        above[at] = ahead;
        ahead = src[(z + 2) * size + t & 2047] & 15;
        cube[(z + 1) % 3][y + 1][x + 1] = ahead;
        __syncthreads();
        unsigned sum = below[at] + above[at] + here[at - 1] + here[at + 1] + here[at - w - 2] + here[at + w + 2];
        unsigned mix = cube[z % 3][y][x] * 2 + cube[(z + 1) % 3][y + 2][x + 1] + cube[(z + 2) % 3][y + 1][x + 2];
        acc += s[(sum * (z + 1)) & 511];
        acc += s[(mix * 16 + x) & 511];
        if (sum > 30 + z) s[(sum * t) & 511] = acc;
        __syncthreads();
        unsigned* spare = below;
        below = here; here = above; above = spare;
        if (x == 0) here[at - 1] = z;
        if (y + 1 == h) here[at + w + 2] = z + x;
    }
    __syncthreads();
    acc += s[(here[at] * 32 + here[at - 1]) & 511];
    acc += s[(cube[n % 3][y + 1][x + 1] * t) & 511];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
