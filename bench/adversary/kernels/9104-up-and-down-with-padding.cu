// launch 1 32 n=0
// launch 1 64 n=1
// launch 2 50 n=2
// Blelloch scan of twice as many items as threads, of a size that is no power of two, with and without padding per level.
#define PAD(i) ((i) + ((i) >> 5) + (n > 1 ? (i) >> 10 : 0))
extern "C" __global__ void k9104(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[320], u[320], table[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, items = 1;
    while (items < 2 * size) items *= 2;
    for (unsigned k = t; k < 1024; k += size) table[k] = k * 3;
    for (unsigned k = t; k < items; k += size) { unsigned v = k < 2 * size ? src[k] % 7 : 0; s[n ? PAD(k) : k] = v; u[k] = v ^ 1; }
    unsigned offset = 1;
    for (unsigned d = items >> 1; d > 0; d >>= 1) {
        __syncthreads();
        for (unsigned k = t; k < d; k += size) {
            unsigned a = offset * (2 * k + 1) - 1, b = offset * (2 * k + 2) - 1;
            u[b] += u[a];
            if (n) { a = PAD(a); b = PAD(b); }
            s[b] += s[a];
        }
        offset *= 2;
    }
    __syncthreads();
    if (t == 0) { s[n ? PAD(items - 1) : items - 1] = 0; u[items - 1] = 0; }
    for (unsigned d = 1; d < items; d *= 2) {
        offset >>= 1;
        __syncthreads();
        for (unsigned k = t; k < d; k += size) {
            unsigned a = offset * (2 * k + 1) - 1, b = offset * (2 * k + 2) - 1, x = u[a];
            u[a] = u[b];
            u[b] += x;
            if (n) { a = PAD(a); b = PAD(b); }
            unsigned y = s[a];
            s[a] = s[b];
            s[b] += y;
        }
    }
    __syncthreads();
    unsigned at = s[n ? PAD(2 * t) : 2 * t], more = u[2 * t + 1];
    acc += table[at & 1023] + table[(at * 4 + more) & 1023];
    table[(more * 8) & 1023] = t;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
