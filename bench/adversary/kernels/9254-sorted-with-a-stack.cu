// launch 1 32 n=3
// launch 1 64 n=6
// launch 2 33 n=4
// Quicksort by lane of its own column (or row), with a stack of bounds in local memory; the smaller part is sorted first.
extern "C" __global__ void k9254(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char keys[64 * 12];
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    const bool column = n & 1;
    unsigned base = column ? (t & 63) : (t & 63) * 12, step = column ? 64 : 1, swaps = 0, deepest = 0;
    auto at = [&](unsigned i) -> unsigned char& { return keys[base + i * step]; };
    for (unsigned i = 0; i < 10; i++) at(i) = (unsigned char)((i * 7 + l * 5 + n) % (11 + (l & 3)));
    unsigned char lows[8], highs[8]; unsigned top = 0;
    int lo = 0, hi = 9;
    for (;;) {
        while (lo < hi) {
            unsigned pivot = at((lo + hi) / 2); int i = lo, j = hi;
            do {
                while (at(i) < pivot) i++;
                while (at(j) > pivot) j--;
                if (i <= j) { unsigned char x = at(i); at(i) = at(j); at(j) = x; i++; j--; swaps++; }
            } while (i <= j);
            if (j - lo < hi - i) { if (i < hi) { lows[top & 7] = (unsigned char)i; highs[top & 7] = (unsigned char)hi; top++; } hi = j; }
            else { if (lo < j) { lows[top & 7] = (unsigned char)lo; highs[top & 7] = (unsigned char)j; top++; } lo = i; }
            if (top > deepest) deepest = top;
        }
        if (!top) break;
        top--; lo = lows[top & 7]; hi = highs[top & 7];
    }
    acc += s[(l * swaps) & 1023];
    s[(at(0) * 64 + at(9) * l) & 1023] = acc;
    if (deepest > 1) acc += s[(l * deepest * 2) & 1023];
    for (unsigned i = 1; i < 10; i++) { if (at(i) == at(i - 1)) continue; s[(at(i) * 32 + l) & 1023] = i; if (at(i) > 9) break; }
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
