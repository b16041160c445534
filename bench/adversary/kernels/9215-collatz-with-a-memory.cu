// launch 1 32 n=27
// launch 2 64 n=97
// launch 1 43 n=7
// Collatz by lane with a memo in the lane's own row, left early at values seen before; steps decide strides and who stores.
__device__ __noinline__ unsigned steps(unsigned x, unsigned* memo, unsigned* s, unsigned l) {
    unsigned c = 0;
    for (; x != 1; c++) {
        if (x < 8 && memo[x]) { c += memo[x]; break; }
        if (c == 24) return 24 + (x & 3);
        x = x & 1 ? x * 3 + 1 : x >> 1;
        if ((c & 7) == 7) s[(l * 2 + c) & 1023] = x;
    }
    return c;
}
extern "C" __global__ void k9215(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned memo[64][9];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned* own = memo[t & 63];
    for (unsigned i = 0; i < 9; i++) own[i] = 0;
    for (unsigned i = 2; i < 8; i += 1 + (l & 1)) own[i] = steps(i, own, s, l);
    unsigned c = steps(l + n, own, s, l);
    acc += s[(l * c) & 1023];
    if (c & 1) s[(c * 32 + l) & 1023] = c; else acc += s[(c * 33 - l * 2) & 1023];
    unsigned x = l + 3, peak = 0;
    while (x != 1 && x < 200) { if (x > peak) { peak = x; acc += s[(x * 4) & 1023]; } x = x % 2 ? (3 * x + 1) / 2 : x / 2; }
    s[(l * (peak & 31)) & 1023] = acc;
    acc += own[c % 9] + memo[(c * 3) & 63][0];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
