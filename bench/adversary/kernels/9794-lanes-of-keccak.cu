// launch 1 32 n=2
// launch 1 64 n=4
// Twenty-five 64-bit lanes in shared memory, one thread each: theta by modulo five, rho by tables, pi by permutation, chi.
__constant__ unsigned char turn[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};
extern "C" __global__ void k9794(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned long long A[2][25], C[2][5];
    if (l < 25 && w < 2) {
        A[w][l] = l * 0x123456789abcdefull; 
        __syncwarp(0x1ffffff);
        for (unsigned k = 0; k < n; k++) {
            unsigned x = l % 5, y = l / 5;
            if (l < 5) C[w][l] = A[w][l] ^ A[w][l + 5] ^ A[w][l + 10] ^ A[w][l + 15] ^ A[w][l + 20];
            __syncwarp(0x1ffffff);
            unsigned long long c = C[w][(x + 1) % 5], v = A[w][l] ^ C[w][(x + 4) % 5] ^ (c << 1 | c >> 63);
            unsigned r = turn[l]; v = r ? v << r | v >> (64 - r) : v;
            __syncwarp(0x1ffffff);
            A[w][y + (2 * x + 3 * y) % 5 * 5] = v;
            __syncwarp(0x1ffffff);
            v = A[w][l] ^ (~A[w][(x + 1) % 5 + 5 * y] & A[w][(x + 2) % 5 + 5 * y]);
            __syncwarp(0x1ffffff);
            A[w][l] = v ^ (l == 0) * k;
            acc += s[(unsigned)v & 1023] + s[(unsigned)(v >> 59) * 32];
            __syncwarp(0x1ffffff);
        }
    }
    __syncthreads();
    acc += s[(unsigned)A[0][l % 25] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
