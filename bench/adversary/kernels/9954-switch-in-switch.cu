// launch 1 32 n=2
// launch 1 64 n=3
// launch 1 33 n=6
// A loop of two switches, the inner one left into the cases of the outer one by goto.
extern "C" __global__ void k9954(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, a = t * 3 + n, left = 16;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 5 ^ k >> 2;
    __syncthreads();
    while (left-- > 0) {
        switch (a & 7) {
        case 0: s[(t * 2) & 511] = left;
        case 1: one: a += 5; break;
        case 2: a ^= s[512 + ((t * 4 + left) & 511)] & 15; break;
        case 3:
        case 4:
            switch ((a + left) % 6) {
            case 0: a += 2; goto one;
            case 1: s[(t + left * 32) & 511] = a; a++; goto six;
            case 2: a = a * 3 + 1; break;
            case 3: a += s[512 + ((t * 33) & 511)] & 3;
            case 4: a++; continue;
            default: goto two;
            }
            s[(t * 8 + 1) & 511] = a & 63;
            break;
        case 5: two: s[512 - 1 - (t & 255)] = left; a += 3; break;
        case 6: six: a -= 1; if (t % 7 == left % 7) goto out; break;
        default: a = (a >> 1) + t;
        }
    }
out:
    s[(t * 3) & 1023] = a;
    out[(blockIdx.x * blockDim.x + t) & 2047] = left;
}
