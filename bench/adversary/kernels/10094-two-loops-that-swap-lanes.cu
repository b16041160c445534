// launch 2 64 n=20 shared=23040
// launch 1 96 n=39 shared=34560
// Two loops that jump into each other's middle, with exits of their own; the first conflicts only if lanes of different trips meet, the second only if all are at one trip.
extern __shared__ unsigned room[];
extern "C" __global__ void k10094(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = threadIdx.x, lane = t & 31, most = 5 + n % 40;
    volatile unsigned* const a = room + (t >> 5) * 2880;   // 1,856 words, then 1,024
    volatile unsigned* const b = a + 1856;
    const unsigned own = src[(t * 13 + n) & 4095] + blockIdx.x;
    unsigned v = own, acc = own, k = 0, q = own & 3, swaps = 0;
    for (unsigned i = 0; i < 32; i++) b[i * 32 + lane] = i ^ t;
    a[lane] = t;
    __syncthreads();
    if ((own >> 5 & 3) == 0) goto in_b;
    if ((own >> 5 & 3) == 1) goto in_a;
    if ((own >> 5 & 3) == 2) goto top_b;
    while (k < most) {
        a[lane + 31 * k] = acc;
        if (v & 8) goto in_b;
        acc += a[lane + 31 * (k + 2)] >> 1;
in_a:
        k++;
        v = v * 1664525 + 1013904223 + lane;
        a[lane + 31 * k] ^= acc + swaps;
        if ((v >> 21 & 15) == 7) goto tail_b;
        if ((v >> 25 & 31) == 3) break;
        if (v >> 30 == 2) { k++; continue; }
        acc ^= v;
    }
    acc += b[32 * lane + (k & 31)];
    if (swaps++ > 3 || k >= most) goto away;
top_b:
    do {
        acc += b[32 * lane + (q & 31)];
        q++;
        if (v & 0x100) goto in_a;
in_b:
        b[32 * lane + ((q + 7) & 31)] = acc;
        v = v * 69069 + 5;
        k += v >> 31;
        if ((v >> 18 & 7) == 1 && k < most) goto in_a;
tail_b:
        acc = acc * 3 + a[lane + 31 * (q % 50)];
        v ^= v >> 9;
        q += 2;
        if (q > 90) return;
    } while (k < most && (v & 3));
    if (k < most && swaps++ < 9) goto in_a;
    acc += a[lane + 31 * k];
away:
    out[blockIdx.x * 96 + t] = acc + b[32 * lane + (q & 31)] + k;
}
