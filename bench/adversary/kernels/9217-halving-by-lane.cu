// launch 1 32 n=100
// launch 2 64 n=377
// launch 1 34 n=1
// Binary searches by lane: with early success, branchless, upper bound, exponential; probes are the accesses themselves.
extern "C" __global__ void k9217(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 3 + (k >> 3); }
    __syncthreads();
    unsigned key = (l * 53 + n) % 1500, lo = 0, hi = 512, probes = 0;
    while (lo < hi) {
        unsigned mid = (lo + hi) >> 1, v = q[mid];
        probes++;
        if (v == key) { s[(l * 2) & 1023] = mid; break; }
        if (v < key) lo = mid + 1; else hi = mid;
    }
    s[(l * probes) & 1023] = lo;
    acc += s[(lo * 2) & 1023];
    unsigned at = 0;
#pragma unroll 1
    for (unsigned half = 256; half; half >>= 1) at += q[(at + half - 1) & 1023] < key ? half : 0;
    acc += s[(at * 4) & 1023];
    unsigned bound = 1 + (l & 3);
    while (bound < 1024 && q[bound] <= key) bound *= 2;
    unsigned from = bound / 2, count = bound - from;
    for (; count > 0; ) { unsigned step = count / 2, mid = from + step; if (!(key < q[mid & 1023])) { from = mid + 1; count -= step + 1; } else count = step; }
    s[(from * 8 + l) & 1023] = at;
    unsigned left = 0, right = l + 2;
    while (right - left > 1) { unsigned mid = left + (right - left) / 2; if (mid * mid <= l) left = mid; else right = mid; acc += s[(mid * 32 + l) & 1023]; }
    s[(l * left) & 1023] = acc;
    if (probes == 9) acc += s[(l * 16) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
