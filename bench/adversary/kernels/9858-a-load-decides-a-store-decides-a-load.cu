// launch 1 256 n=40
// launch 2 96 n=511
// launch 4 33 n=1000
// launch 2 5x7x3 n=300
// chains: an index says where a store goes, which changes the index read next, which says whether another store
// happens; after __syncwarp lanes 16 to 31 read what lanes 0 to 15 of their warp stored, if those lanes stored at
// all
extern "C" __global__ void k9858(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned nt = blockDim.x * blockDim.y * blockDim.z, l = t & 31, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i + 9;
    __syncthreads();
    unsigned r = (blockIdx.x * nt + t) * 16;
    volatile unsigned* g = out + r;
    volatile unsigned* h = (volatile unsigned*)src + r;
    for (unsigned k = 0; k < 6 + (n & 7); k++) {
        unsigned i0 = h[(l + k) & 3];                             // 0 to 3 of src: never written
        acc += s[(i0 * 4) & 1023];
        g[i0 & 7] = i0 * 2 + k;
        unsigned i1 = g[k & 7];                                   // hit or not
        acc += s[i1 & 1023];
        if (i1 > n) h[4 + (i1 & 3)] = (i1 ^ i0) * 3;
        unsigned i2 = h[4 + ((i0 >> 2) & 3)];
        acc += s[(i2 * 2 + k) & 1023];
        if (i2 & 1) g[8 + (i2 >> 1 & 3)] = l; else if (i1 & 2) g[11 - (k & 3)] = i1;
        acc += s[g[8 + ((i1 + i2) & 3)] & 1023];
        acc += s[(g[12 + (i2 & 1)] * 2 + (g[12 + (i2 & 1)] >> 4)) & 1023];       // 12 and 13 of out: never written
    }
    if (l < 16 && (h[1] & 4)) g[14] = h[2] * 8 + l;
    __threadfence_block();
    __syncwarp();
    if (l >= 16) {
        unsigned x = g[14 - 16 * 16];                             // sixteen lanes down
        acc += s[x & 1023];
        g[15] = x >> 1;
    }
    acc += s[(g[15] + 3) & 1023];                                 // its own: new in the upper lanes
    __syncwarp();
    g[14] = acc;
}
