// launch 1 64 n=5
// launch 1 96 n=12
// Set intersection: galloping then binary search in sorted shared rows; the longest common prefix of suffixes; quickselect.
extern "C" __global__ void k9780(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned row[256];
    for (unsigned i = t; i < 256; i += T) row[i] = i * 3 + (src[i] & 1);
    __syncthreads();
    unsigned key = src[t * n & 1023] % 700, step = 1, at = 0;
    while (at + step < 256 && row[at + step] < key) { at += step; step *= 2; }
    unsigned lo = at, hi = min(at + step, 255u);
    while (lo < hi) { unsigned mid = (lo + hi) / 2; if (row[mid] < key) lo = mid + 1; else hi = mid; }
    acc += row[lo] == key ? s[(lo * 4) & 1023] : s[lo & 1023];
    unsigned same = 0;
    while (same < 20 && (src[(t + same) & 1023] & 1) == (src[(t * 2 + same) & 1023] & 1)) same++;
    acc += s[(same * 32 + l) & 1023];
    if (t == 0) {
        int left = 0, right = 31, k = n;
        while (left < right) {
            unsigned pivot = s[(left + right) / 2]; int i = left, j = right;
            while (i <= j) { while (s[i] < pivot) i++; while (s[j] > pivot) j--; if (i <= j) { unsigned x = s[i]; s[i] = s[j]; s[j] = x; i++; j--; } }
            if (k <= j) right = j; else if (k >= i) left = i; else break;
        }
        acc += s[k];
    }
    __syncthreads();
    acc += s[(s[n] * l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
