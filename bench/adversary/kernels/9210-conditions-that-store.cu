// launch 1 32 n=3
// launch 2 64 n=8
// launch 1 38 n=5
// do-while loops whose conditions load, store and count; short-circuit operators with side effects; commas.
extern "C" __global__ void k9210(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned mine[96];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k ^ k >> 2) & 7; }
    __syncthreads();
    if (t < 96) mine[t] = t & 3;
    __syncthreads();
    unsigned i = 0, c = t % 96;
    do { acc += s[(l * 2 + i) & 1023]; } while (mine[c]++ < n && (s[(l * 4 + i) & 1023] = i, ++i < 6 + (l & 1)));
    unsigned m = mine[c];
    acc += s[(l * m) & 1023];
    do {
        if ((m & 1) && (acc += s[(l * 8) & 1023], m > 3)) { m -= 3; continue; }
        s[(l + m * 32) & 1023] = m;
    } while ((mine[c] = --m, m < 12) && m != 0 && (q[(l + m) & 1023] || (s[(l * 3) & 1023] = 2, l & 1)));
    acc += s[(l * (m + 2)) & 1023];
    unsigned a = l & 7, b = 7 - a;
    while (a > 0 ? (a--, acc += s[(l + a * 40) & 1023], true) : b-- > 2 && (s[(l * 5 + b) & 1023] = b, b)) m += a > 3 ? 1 : 2;
    s[(l * (m & 15)) & 1023] = acc;
    for (unsigned k = l; k ? k >>= 1, k != 2 : false; acc += s[(l * 16 + k) & 1023]) m ^= k;
    acc += mine[(m * 3) % 96];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
