// launch 1 32 n=1
// launch 2 64 n=2
// launch 1 30 n=0
// Backtracking by recursion with local arrays by lane: queens on a board of 4, and Heap's permutations cut short by lane.
__device__ __noinline__ unsigned queens(unsigned* s, unsigned row, unsigned cols, unsigned left, unsigned right, unsigned l) {
    if (row == 4) { s[(l * 4 + (left & 31)) & 1023] = cols; return 1; }
    unsigned found = 0, free = ~(cols | left | right) & 15;
    while (free) {
        unsigned bit = free & -free; free ^= bit;
        if (row == 0 && !((l >> __ffs(bit)) & 1)) continue;
        found += queens(s, row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1, l);
    }
    if (found == 0) s[(l * 2 + row) & 1023] = row;
    return found;
}
__device__ __noinline__ bool heap(unsigned k, unsigned char* a, unsigned& budget, unsigned* s, unsigned l) {
    if (k == 1) { s[(a[0] * 32 + a[1] + l * a[2]) & 1023] = budget; return --budget != 0; }
    for (unsigned i = 0; i < k; i++) {
        if (!heap(k - 1, a, budget, s, l)) return false;
        unsigned j = k & 1 ? 0 : i; unsigned char x = a[j]; a[j] = a[k - 1]; a[k - 1] = x;
    }
    return true;
}
extern "C" __global__ void k9221(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned found = queens(s, 0, 0, 0, 0, l + n);
    acc += s[(l * (found + 1)) & 1023];
    unsigned char a[4] = { (unsigned char)(l & 3), 5, 8, (unsigned char)(n + 16) };
    unsigned budget = 2 + (l & 7);
    bool whole = heap(3, a, budget, s, l);
    acc += s[(l * a[l & 3]) & 1023];
    if (whole) acc += s[(l * 16 + budget) & 1023]; else s[(l * 8) & 1023] = acc;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
