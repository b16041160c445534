// launch 1 32 n=4
// launch 1 64 n=7
// launch 2 37 n=5
// String matching of bytes: Knuth-Morris-Pratt with a table that one thread builds, then Horspool from the end with skips by character.
extern "C" __global__ void k9143(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char text[1024], pattern[16], fail[16], skip[32];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) { s[k] = k; text[k] = (unsigned char)(src[k] % 3 + (k % 11 == 5) * 7); }
    for (unsigned k = t; k < 32; k += size) skip[k] = (unsigned char)n;
    __syncthreads();
    if (t < n) pattern[t] = text[20 + t];
    __syncthreads();
    if (t == 0) {
        fail[0] = 0;
        unsigned k = 0;
        for (unsigned i = 1; i < n; i++) {
            while (k && pattern[i] != pattern[k]) k = fail[k - 1];
            if (pattern[i] == pattern[k]) k++;
            fail[i] = (unsigned char)k;
        }
    }
    if (t == size - 1) for (unsigned i = 0; i + 1 < n; i++) skip[pattern[i]] = (unsigned char)(n - 1 - i);
    __syncthreads();
    unsigned chunk = 1024 / size, begin = t * chunk, state = 0, matches = 0, last = 0;
    for (unsigned i = begin; i < min(begin + chunk / 2 + n - 1, 1024u); i++) {
        unsigned char c = text[i];
        while (state && c != pattern[state]) state = fail[state - 1];
        if (c == pattern[state]) state++;
        if (state == n) { matches++; last = i; s[(i * 4) & 1023] = matches; state = fail[n - 1]; }
    }
    acc += s[(matches * t) & 1023] + s[last & 1023];
    unsigned end = min(begin + chunk / 3 + n, 1024u), i = begin + n - 1, shifts = 0;
    while (i < end) {
        unsigned j = 0;
        while (j < n && text[i - j] == pattern[n - 1 - j]) j++;
        if (j == n) acc += s[(i * 2 + 1) & 1023];
        i += skip[text[i]];
        shifts++;
    }
    s[(shifts * t) & 1023] = i;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
