// launch 1 64 n=3
// launch 1 16x8 n=2
// Floyd-Warshall on a tile: the dependent, the row and the column phase; -inf by min; then paths that are followed.
extern "C" __global__ void k9742(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned D[16][16], via[16][17];
    unsigned t = threadIdx.x + threadIdx.y * blockDim.x, T = blockDim.x * blockDim.y, acc = 0;
    for (unsigned i = t; i < 256; i += T) { D[i / 16][i % 16] = i % 17 ? 1 + src[i] % 97 : 0; via[i / 16][i % 16] = i % 16; }
    __syncthreads();
    for (unsigned k = 0; k < 16; k++) {
        for (unsigned i = t; i < 256; i += T) { unsigned a = i / 16, b = i & 15, d = D[a][k] + D[k][b]; if (d < D[a][b]) { D[a][b] = d; via[a][b] = via[a][k]; } }
        __syncthreads();
    }
    unsigned a = t & 15, b = (t * n + 1) & 15, steps = 0;
    while (a != b && steps < 16) { a = via[a][b]; steps++; acc += D[a][b]; }
    out[t] = acc + D[steps][t & 15];
}
