// launch 1 64 n=4
// launch 1 36 n=3
// Winograd F(2x2, 3x3): the transform of rows, then of columns, through shared memory with sixteen planes of a pitch.
extern "C" __global__ void k9726(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ float plane[16][36];
    float d[4][4], m[4][4];
    unsigned tile = t % 36;
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) d[i][j] = (float)s[((tile / 6 * 2 + i) * 15 + tile % 6 * 2 + j) & 1023];
    for (int j = 0; j < 4; j++) { m[0][j] = d[0][j] - d[2][j]; m[1][j] = d[1][j] + d[2][j]; m[2][j] = d[2][j] - d[1][j]; m[3][j] = d[1][j] - d[3][j]; }
    for (int i = 0; i < 4; i++) { plane[i * 4][tile] = m[i][0] - m[i][2]; plane[i * 4 + 1][tile] = m[i][1] + m[i][2]; plane[i * 4 + 2][tile] = m[i][2] - m[i][1]; plane[i * 4 + 3][tile] = m[i][1] - m[i][3]; }
    __syncthreads();
    for (unsigned i = t; i < 16 * n; i += T) acc += (unsigned)plane[i % 16][i / 16 * 5 % 36];
    for (unsigned i = t; i < 16 * n; i += T) { float2 v = *(float2*)&plane[i / n][i % n * 2]; acc += (unsigned)v.x; }
    float4 q = *(float4*)&plane[t & 15][(t >> 4) * 4]; acc += (unsigned)(q.x + q.w);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
