// launch 2 64 n=20
// launch 1 96 n=8
// launch 1 45 n=1
// Duff's device whose switch jumps into the loop and into a loop within it; one array conflicts only if lanes of different entries or laps meet, the other only if they do not.
extern "C" __global__ void k10091(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 2400], deep[3 * 1024];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const a = s + (t >> 5) * 2400;
    volatile unsigned* const b = deep + (t >> 5) * 1024 + 32 * lane;
    for (unsigned i = 0; i < 32; i++) b[(i + lane) & 31] = i * t;
    a[lane] = t;
    __syncthreads();
    const unsigned own = src[(t * 7 + n) & 4095] + blockIdx.x;
    unsigned laps = 1 + (own >> 4) % (n % 9 + 2), k = 0, in = own >> 9 & 3, acc = own;
    // k grows by 7 a lap at most, laps are 10 at most
    switch ((own ^ lane) & 7) {
    case 0:
        do {
            a[lane + 31 * k] = acc;
            k++;
    case 1:
            acc += b[k & 31];
    case 2:
            a[lane + 31 * k] += acc ^ 5;
            k++;
            if ((src[(own + k * 5) & 4095] & 7) == 3) continue;
    case 3:
            acc = acc * 3 + b[(k + 16) & 31];
            while (in) {
                a[lane + 31 * (k + in)] = acc;
    case 4:
                acc ^= b[(k + in) & 31];
                if (src[(own + in + k) & 4095] % 11 == 4) goto over;
    case 5:
                acc += a[lane + 31 * k];
                if (in) in--;
            }
    case 6:
            k++;
            b[k & 31] = acc;
over:
            in = src[(t + k * 3 + laps * 64) & 4095] & 3;
            if (in == 2 && laps == 3) goto away;
    case 7:
            acc += a[lane + 31 * k];
            k++;
        } while (--laps);
    }
    acc += b[k & 31];
away:
    a[lane + 31 * k] = acc;
    out[blockIdx.x * 96 + t] = acc + a[lane + 31 * (k >> 1)] + b[laps];
}
