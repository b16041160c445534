// launch 1 32 n=8
// launch 1 64 n=11
// One-sided Jacobi: pairs of columns by the round-robin tournament, an odd number leaves one out; the order decides places.
extern "C" __global__ void k9730(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned players = n + (n & 1), mod = players - 1;
    for (unsigned round = 0; round < mod; round++) {
        unsigned pair = t % (players / 2), row = t / (players / 2), p, q;
        if (pair == 0) { p = mod; q = round; } else { p = (round + pair) % mod; q = (round + mod - pair) % mod; }
        if (p > q) { unsigned x = p; p = q; q = x; }
        if (q < n && row < 4) {
            unsigned a = s[row * 37 + p], b = s[row * 37 + q];
            s[row * 37 + p] = a + b & 1023; s[row * 37 + q] = a - b & 1023;
            acc += s[(p * 32 + q) & 1023];
        }
        __syncthreads();
    }
    acc += s[s[(t & 3) * 37 + t % n] & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
