// launch 1 64 n=4
// launch 1 32 n=10
// Quarter rounds on columns and diagonals by shuffles and through shared memory; keystream words are indices; base64 by tables.
extern "C" __global__ void k9793(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ char alphabet[64]; __shared__ unsigned rows[4][64];
    if (t < 64) for (unsigned i = t; i < 64; i += T) alphabet[i] = i < 26 ? 'A' + i : i < 52 ? 'a' + i - 26 : i < 62 ? '0' + i - 52 : i == 62 ? '+' : '/';
    unsigned a = 0x61707865u + l, b = t * 0x9e3779b9u, c = n, d = ~l;
    for (unsigned k = 0; k < n; k++) {
        a += b; d = __funnelshift_l(d ^ a, d ^ a, 16); c += d; b = __funnelshift_l(b ^ c, b ^ c, 12); a += b; d = __funnelshift_l(d ^ a, d ^ a, 8); c += d; b = __funnelshift_l(b ^ c, b ^ c, 7);
        if (k & 1) { b = __shfl_sync(~0u, b, (l & ~3) | (l + 3 & 3)); c = __shfl_xor_sync(~0u, c, 2); d = __shfl_sync(~0u, d, l + 1, 4); }
        else { rows[k & 3][t & 63] = d; __syncwarp(); d = rows[k & 3][(t & ~3 | (t + 1 & 3)) & 63]; __syncwarp(); }
        acc += s[a & 1023] + s[(d >> 27) * 32];
    }
    __syncthreads();
    unsigned triple = b & 0xffffff; for (int i = 0; i < 4; i++) acc += alphabet[triple >> 6 * i & 63];
    acc += s[alphabet[c & 63] * 8];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
