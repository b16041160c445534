// launch 1 32 n=5
// launch 1 50 n=4294967289
// launch 2 64 n=2147483648
// Signed and unsigned division and remainder, by constants, powers of two and runtime divisors of both signs; floored and Euclidean forms; 16 and 64 bits.
__device__ __noinline__ int floored(int a, int b) { int q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0)); }
__device__ __forceinline__ unsigned wrap(int a, int b) { int r = a % b; return (unsigned)(r < 0 ? r + (b < 0 ? -b : b) : r); }
extern "C" __global__ void k9338(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ int v[64]; __shared__ short h[64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    v[t] = (int)(t * 37) - 600; h[t] = (short)(t * 1999);
    __syncthreads();
    int a = v[(t * 5) % T], d = (int)n; if (d == 0 || d == -1) d = 3;
    acc += s[(unsigned)(a / 7 * 4) & 1023];
    acc += s[(unsigned)(a % 7 + 512 + a / -16 * 2) & 1023];
    acc += s[(unsigned)(a % 32) & 1023];
    acc += s[wrap(a, 33) * 31 & 1023];
    acc += s[(unsigned)(a * 1000 / d) & 1023];
    acc += s[(unsigned)(a * 99991 % d) & 1023];
    acc += s[(unsigned)(floored(a, d) * 8) & 1023];
    if (floored(a, -9) != a / -9) s[(t * 16 + 2) & 1023] = acc;
    unsigned u = (unsigned)a / n, w = (unsigned)a % (n >> 3 | 1);
    acc += s[(u ^ w >> 7) & 1023];
    acc += s[(unsigned)(h[t] / 10 % 10) * 32 + 512 & 1023];
    acc += s[(unsigned)((signed char)a / (signed char)(t | 1)) & 1023];
    long long l = (long long)a * 0x12345678ll; long long q = l / (long long)(d * 3ll + 1), r = l % 1000000007ll;
    acc += s[(unsigned)(q ^ r) & 1023];
    acc += s[(unsigned)((unsigned long long)l / 10 >> 30) & 1023];
    int g = a, k = (int)(t * 12 + 8); while (k) { int m = g % k; acc += s[(unsigned)(m * 3) & 1023]; g = k; k = m; }
    s[(unsigned)(g * 32 + (int)t) & 1023] = acc;
    int shifted = (a + ((a >> 31) & 7)) >> 3; if (shifted == a / 8) acc += s[(unsigned)(shifted * 5) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
