// launch 1 32 n=12
// launch 2 64 n=35
// launch 1 39 n=100
// Euclid, binary and extended gcd by lane; quotients, signs and shift counts are strides; tail calls with swapped arguments.
__device__ __noinline__ unsigned gcd(unsigned a, unsigned b, unsigned* s, unsigned l) { if (!b) return a; s[(l * 2 + a / b * 32) & 1023] = a; return gcd(b, a % b, s, l); }
__device__ unsigned binary(unsigned a, unsigned b, unsigned& rounds) {
    rounds = 0;
    if (!a || !b) return a | b;
    unsigned shift = __ffs(a | b) - 1;
    a >>= __ffs(a) - 1;
    do { rounds++; b >>= __ffs(b) - 1; if (a > b) { unsigned x = a; a = b; b = x; } b -= a; } while (b);
    return a << shift;
}
extern "C" __global__ void k9216(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned g = gcd(l + n, 12 + (l & 3) * 6, s, l), rounds;
    acc += s[(l * g) & 1023];
    unsigned h = binary(l * 6, n * 4, rounds);
    s[(l * rounds) & 1023] = h;
    acc += s[(l * 2 + h * 33) & 1023];
    int a = (int)l - 9, b = 7, x0 = 1, x1 = 0, count = 0;
    while (b) { int d = a / b, r = a % b; a = b; b = r; int x = x0 - d * x1; x0 = x1; x1 = x; if (d < 0) { acc += s[(l * 4 - d) & 1023]; } else count++; }
    s[(l * (unsigned)(x0 < 0 ? -x0 : x0 + count)) & 1023] = acc;
    acc += s[(unsigned)(x1 * 4 + (int)l * count) & 1023];
    for (unsigned k = 2, m = n; m > 1; ) if (m % k) { if (++k > 12 + (l & 1)) break; } else { m /= k; acc += s[(l * k) & 1023]; }
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
