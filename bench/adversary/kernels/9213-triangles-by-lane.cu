// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 51 n=4
// Three nested triangular loops whose bounds swap, whose inner counters outlive them, and whose steps come from the outer ones.
extern "C" __global__ void k9213(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k & 3; }
    __syncthreads();
    unsigned i, j = 0, k = 0, trips = 0;
    for (i = l & 3; i < 5; i++)
        for (j = i; j-- > (l & 1);)
            for (k = i - j; k < i; k += j + 1) { trips++; acc += s[(l * i + j * 32 + k) & 1023]; }
    s[(l * k + j) & 1023] = trips;
    acc += s[(trips * l) & 1023];
    for (unsigned a = 0, b = 7; a < b; a += 1 + (l & 1), b -= q[l + a]) { s[(l * (b - a)) & 1023] = a; if (b > 20) break; }
    for (unsigned a = 1; a <= n; a++) for (unsigned b = a; b <= n; b += a) { if (b % (1 + (l & 3)) == 0) acc += s[(l * a + b * 33) & 1023]; }
    for (unsigned a = 0; a < 3; a++) {
        unsigned b = a;
        for (; b < 6; b++) { if (((l >> a) + b) % 4 == 3) break; acc += s[(l * 2 + b * 64) & 1023]; }
        for (unsigned c = b; c < 6; c++) s[(l * 4 + c) & 1023] = b;
        k += b;
    }
    acc += s[(k * l) & 1023];
    unsigned lo = l & 7, hi = 15;
    while (lo < hi) { for (unsigned m = lo; m < hi; m += 4) acc += s[(m * 32 + l * 2) & 1023]; lo += 2; hi -= lo > 6 ? 3 : 1; }
    s[(l * (hi - lo + 9)) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
