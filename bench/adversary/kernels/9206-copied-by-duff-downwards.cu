// launch 1 32 n=13
// launch 2 64 n=21
// launch 1 33 n=6
// Duff's device twice: in a function that counts down by lane, called from two places, and nested in a loop over widths.
__device__ __noinline__ unsigned duff(unsigned* to, const unsigned* from, unsigned count, unsigned step) {
    if (!count) return 0;
    unsigned trips = (count + 3) / 4, done = 0;
    switch (count & 3) {
    case 0: do { to[done & 511] = from[(done * step) & 511]; done += step;
    case 3:      to[(done + 32) & 511] = done; done += 2;
    case 2:      done += from[(done + step) & 511] & 1;
    case 1:      to[(done * 2) & 511] = from[done & 511]; done++;
            } while (--trips);
    }
    return done;
}
extern "C" __global__ void k9206(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k * 2; }
    __syncthreads();
    unsigned count = (l * n) % 11;
    unsigned made = duff(s + 256, q + (l & 15), count, 2);
    acc += s[(made * 4 + l) & 1023];
    __syncwarp();
    if (l & 2) made = duff(s + (l & 31) * 2, q + l * 4, n & 7, 4 + (l & 1)); else made += 3;
    s[(l * made) & 1023] = acc;
    for (unsigned width = 1; width <= 4; width *= 2) {
        unsigned k = (l & 7) + width;
        switch (k % 3) {
            while (k < 12) {
            case 0: acc += s[(l * width + k) & 1023]; k += 2;
            case 1: s[(l + k * 32) & 1023] = k; if (k == 7) break; k++;
            case 2: k += width;
            }
        }
        acc += q[(l * k) & 1023];
    }
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
