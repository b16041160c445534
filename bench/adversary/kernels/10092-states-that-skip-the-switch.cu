// launch 2 64 n=20
// launch 1 96 n=63
// A state machine whose next states come from a table in shared memory and whose cases also goto one another, past the switch; lanes of one state at different trips conflict.
extern "C" __global__ void k10092(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 2200], next[6 * 33];
    __shared__ unsigned short slim[3 * 2 * 1024];
    const unsigned t = threadIdx.x, lane = t & 31, most = 4 + (n & 63);
    volatile unsigned* const a = s + (t >> 5) * 2200;
    volatile unsigned short* const h = slim + (t >> 5) * 2048 + 64 * lane;
    for (unsigned i = t; i < 6 * 33; i += blockDim.x) next[i] = src[(i * 19 + n) & 4095] % 7;
    a[lane] = t;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x, acc = v, k = 0, st = (v >> 7) % 6;
    while (k < most) {
        v = v * 1664525 + 1013904223;
        switch (st) {
        case 0:
zero:       a[lane + 31 * k] = acc;
            st = next[v >> 27];
            if (v >> 16 & 1) goto three;
            break;
        case 1:
            acc += h[k & 63];
            k += 2;
            if (v >> 17 & 1) { st = 4; continue; }
            if (k < most) goto zero;
            break;
        case 2:
            st = next[33 + (v >> 27)];
            h[(k * 2) & 63] = acc;
            if (v & 0x40000) goto four;
        case 3:
three:      acc ^= a[lane + 31 * (k + 1)];
            k++;
            v ^= v >> 13;
            if ((v & 6) == 2 && k < most) goto zero;
            st = next[66 + (v >> 27)];
            break;
        case 4:
            a[lane + 31 * k + 31] = v;
four:       k++;
            v = v * 69069 + 1;
            acc = acc * 5 + a[lane + 31 * k];
            if ((v >> 20 & 3) == 1) goto three;
            if ((v >> 20 & 3) == 2 && k < most) goto four;
            st = (st + next[99 + (v >> 27)]) % 7;
            break;
        case 5:
            st = v >> 29 & 1 ? 0 : next[132 + (v >> 27)];
            acc += next[165 + (v & 31)] + h[++k + 32 & 63];
            break;
        default:
            if (v % 5 == 0) goto away;
            st = v % 3, k++;
        }
    }
    acc += a[lane + 31 * k];
away:
    out[blockIdx.x * 96 + t] = acc + (st << 20) + h[k & 63];
}
