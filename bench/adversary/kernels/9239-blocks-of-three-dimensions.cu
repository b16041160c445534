// launch 1 5x3x7 n=3
// launch 2x2 9x4x2 n=5
// launch 1x1x3 3x3x3 n=2
// launch 2 2x31x1 n=4
// Lanes from x, y and z of odd blocks: rows of a tile by y, exits by z, branches on x in warps that span rows; grid in two dimensions.
extern "C" __global__ void k9239(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, acc = 0;
    unsigned t = x + blockDim.x * (y + blockDim.y * z), nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 3 & 31; }
    __syncthreads();
    acc += s[(y * 32 + x) & 1023];
    s[(x * 32 + y + z * 4) & 1023] = t;
    if (x == y) acc += s[(z * 33 + x * 8) & 1023];
    else if (x > y) for (unsigned i = y; i < x; i++) s[(i * 32 + z * n) & 1023] = i;
    if (z & 1) { for (unsigned i = 0; i <= y; i++) { if (i == x) continue; acc += s[(i * 16 + l) & 1023]; } }
    __syncthreads();
    unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r));
    acc += s[(r * (x + 1)) & 1023];
    unsigned m = __activemask(), b = __ballot_sync(m, x == 0);
    s[(l * __popc(b)) & 1023] = b;
    if (z == 2 && blockDim.z > 2) { out[(t * 2) & 1023] = acc; return; }
    __syncthreads();
    acc += s[(t * (blockIdx.x + 1) + blockIdx.y * 4 + blockIdx.z) & 1023];
    if (blockIdx.x != blockIdx.y || (x ^ y ^ z) & 1) acc += s[(q[t & 1023] * 32 + z) & 1023];
    s[(l * (gridDim.y + blockDim.y)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
