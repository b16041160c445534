// launch 1 7x3x5 n=2
// launch 2x1 33x2 n=3
// launch 1 1x64 n=5
// launch 1x2 2x3x11 n=1
// Indices from threadIdx of all three dimensions in blocks whose rows end inside of warps; by rows, columns and diagonals.
extern "C" __global__ void k9771(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, X = blockDim.x, Y = blockDim.y, t = x + X * (y + Y * z), T = X * Y * blockDim.z, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    __syncthreads();
    acc += s[(y * 33 + x) & 1023] + s[(x * 32 + y + z * 5) & 1023] + s[(z * X + x * n) & 1023] + s[((x + y) % X * 17 + z) & 1023] + s[(y * n * X + X - 1 - x) & 1023];
    if (x == 0) acc += s[(y + z * Y) * 8 & 1023]; if (y == Y - 1) acc += s[x * 4]; if (z & 1) acc += s[t * 2 & 1023]; if (x == y) acc += s[(t * 16) & 1023];
    for (unsigned k = y; k < 7; k += Y) acc += s[(k * X + x) * 3 & 1023];
    __syncthreads();
    unsigned m = __ballot_sync(__activemask(), x == 0); acc += s[__popc(m) * (t & 31) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
