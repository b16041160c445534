// launch 2 64 n=5
// launch 1 96 n=12
// Two functions with a loop of two doors each that call each other out of it, called from two places; indices depend on depth, trip and lane; one uses generic addresses.
__shared__ unsigned s[3 * 2304];
__device__ __noinline__ unsigned hop(unsigned x, volatile unsigned* a, unsigned lane, unsigned depth);
__device__ __noinline__ unsigned walk(unsigned x, volatile unsigned* a, unsigned lane, unsigned depth) {
    volatile unsigned* const r = s + (threadIdx.x >> 5) * 2304 + lane;
    unsigned k = 0, acc = x, v = x * 2654435761u;
    if (x & 1) goto low;
    if (depth == 0) goto mid;
high:
    r[31 * (depth * 8 + k)] = acc;
    if (depth && (v >> 29) == 3) acc += hop(v >> 6, a, lane, depth - 1);
mid:
    k++;
    v = v * 69069 + 1;
    if (k > 5) return acc;
    if (v & 0x10000) goto high;
low:
    acc += r[31 * (depth * 8 + k + 1)];
    if (depth && (v >> 30) == 1) { acc ^= hop(v >> 9, a, lane, depth - 1); if (v & 0x400) goto mid; }
    v = v * 1664525 + 1013904223;
    k++;
    if (k <= 5 && (v & 0x20000)) goto low;
    if (k <= 5) goto mid;
    return acc + 1;
}
__device__ __noinline__ unsigned hop(unsigned x, volatile unsigned* a, unsigned lane, unsigned depth) {
    volatile unsigned* const b = a + 1280 + 32 * lane;
    unsigned acc = x, q = 0;
    switch (x & 3) {
    case 0: return walk(x >> 2, a, lane, depth);
        for (; q < 3;) {
    case 1:
            b[(depth * 4 + q) & 31] = acc;
            if ((x >> q & 5) == 4) continue_at: q++;
    case 2:
            acc = acc * 5 + b[(q + 9) & 31];
            if (depth) acc += walk(x >> (q & 3), a, lane, depth - 1);
    case 3:
            if (q < 2 && (x >> (q + 4) & 1)) goto continue_at;
            q++;
        }
    }
    return acc ^ q;
}
extern "C" __global__ void k10095(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const a = s + (t >> 5) * 2304;
    unsigned own = src[(t * 9 + n) & 4095] + blockIdx.x, acc = 0, i = own & 1;
    if (own & 4) goto inside;
    for (; i < n; i++) {
        acc += walk(own >> (i & 15), a, lane, 3);
        if ((own >> i & 7) == 6) { i++; continue; }
inside:
        acc ^= hop(own + i * 77, a, lane, 2 + (own >> 8 & 1));
    }
    out[blockIdx.x * 96 + t] = acc + walk(own >> 3, a, lane, 1) + a[lane];
}
