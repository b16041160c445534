// launch 4x2 8x4 n=33
// launch 1 5x3x3 n=7
// launch 2x1x2 4x4x4 n=160
// Packed coordinates (x, y, z, 1) against packed strides by dp4a and dp2a: offsets of a brick of bytes, with signed steps to neighbours.
extern "C" __global__ void k9324(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(4) unsigned char brick[1024];
    unsigned T = blockDim.x * blockDim.y * blockDim.z, t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) { s[k] = k; brick[k] = (unsigned char)(k * 5 >> 1); }
    __syncthreads();
    unsigned at = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16 | 1u << 24;
    unsigned strides = (n & 255) | blockDim.x << 9 | 37u << 16 | (blockIdx.x * 5 + blockIdx.y) << 24;
    unsigned base = __dp4a(at, strides, blockIdx.z * 64u);
    acc += s[base & 1023];
    const int steps[6] = {0x000001FF, 0x0000FF01, 0x00FF0000, 0x00010000, 0x00FE0202, 0x0001FF80};
    for (unsigned k = 0; k < 6; k++) {
        int moved = __dp4a(steps[k], (int)(strides & 0x7F7F7F7Fu), (int)base);
        if (moved < 0) continue;
        acc += s[(unsigned)moved & 1023];
        if (brick[moved & 1023] & 4) s[(unsigned)(moved * 2) & 1023] = acc;
    }
    unsigned half = __dp2a_lo(at << 8 | threadIdx.z, strides, 3u), other = __dp2a_hi(t * 0x30001u, strides, half);
    acc += s[(half ^ other >> 2) & 1023];
    int mixed = __dp2a_lo((int)(t << 16 | (0xFFFF & -(int)t)), (int)strides, -5);
    acc += s[(unsigned)(mixed >> 1) & 1023];
    unsigned sum = 0;
    for (unsigned k = 0; k < 4; k++) sum = __dp4a(*(unsigned*)(brick + (base + k * 36 & 1020)), 0x01020304u << k, sum);
    s[(sum >> 2) & 1023] = acc;
    for (unsigned k = sum & 3; k < 4; k++) acc += s[__dp4a(at, 0x01010101u * k, sum) & 1023];
    out[((blockIdx.x + blockIdx.y * gridDim.x) * T + t) & 2047] = acc;
}
