// launch 2 64 n=6
// launch 1 96 n=9
// launch 1 128 n=3
// Three nested loops, each entered in its middle from outside and from the next loop but one; every lane has its own rows, columns and exits.
extern "C" __global__ void k10098(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[4 * 1024], u[4 * 1024];
    __shared__ unsigned char small[4 * 4096];
    const unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, most = n < 9 ? n : 9;
    volatile unsigned* const a = s + w * 1024;
    volatile unsigned* const b = u + w * 1024 + 32 * lane;
    volatile unsigned char* const c = small + w * 4096;
    const unsigned own = src[(t * 17 + n) & 4095] + blockIdx.x;
    unsigned v = own, acc = own, i = 0, j = 0, k = 0, fuel = 100;
    for (unsigned m = 0; m < 32; m++) { a[m * 32 + lane] = m; b[m] = t; c[m * 128 + lane * 4] = m; }
    __syncthreads();
    switch (own >> 3 & 7) {
    case 0: goto in_inner;
    case 1: j = 1; goto in_middle;
    case 2: goto in_outer;
    case 3: k = lane & 3; goto end_inner;
    case 4: i = 1; goto end_middle;
    }
    for (i = 0; i < most; i++) {
        a[lane + 31 * i] = acc;
        if ((v >> 12 & 7) == 1) goto in_inner;
in_outer:
        v = v * 69069 + 1;
        for (j = v >> 30; j < 4; j++) {
            acc += b[(i + j) & 31];
            if ((v >> 15 & 7) == 2) { if (--fuel == 0) goto away; v ^= v << 7 | 1; goto end_inner; }
in_middle:
            for (k = 0; k < 3; k++) {
                acc ^= a[lane + 31 * (i + j + k)];
in_inner:
                v = v * 1664525 + 1013904223;
                c[(lane * 4 + 124 * (k + 4 * j) & 4095)] = acc;
                if (--fuel == 0) goto away;
                if (v >> 28 == 3) goto in_outer;
                if (v >> 28 == 5) goto end_middle;
                if (v >> 28 == 7) break;
end_inner:
                b[(i + k) & 31] = acc + k;
            }
            if ((v >> 20 & 7) == 4) { if (--fuel == 0) goto away; i += i < most; j = 0; v += 0x10000; goto in_middle; }
end_middle:
            acc += c[lane * 4 + 124 * (j + i)];
        }
        if (v % 31 == 8) goto out_early;
    }
    acc += a[lane + 31 * j];
out_early:
    acc += b[(j + k) & 31];
away:
    out[blockIdx.x * 128 + t] = acc + fuel + a[lane + 31 * i];
}
