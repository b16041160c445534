// launch 1 32 n=9
// launch 1 58 n=610
// launch 2 64 n=88
// Gray codes both ways, steps of one bit; Fibonacci numbers by doubling, Zeckendorf digits by a greedy loop, Fibonacci hashing; golden strides.
__device__ uint2 fib(unsigned k) {
    unsigned a = 0, b = 1;
    for (int i = 31 - __clz((int)(k | 1)); i >= 0; i--) { unsigned c = a * (2 * b - a), d = a * a + b * b; a = c; b = d; if (k >> i & 1) { c = a + b; a = b; b = c; } }
    return make_uint2(a, b);
}
extern "C" __global__ void k9346(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned numbers[24];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    if (t < 24) numbers[t] = fib(t + 2).x;
    __syncthreads();
    unsigned g = t ^ t >> 1, b = n * t & 1023;
    for (unsigned w = 1; w < 16; w *= 2) b ^= b >> w;
    acc += s[(g * 8) & 1023];
    acc += s[b & 1023];
    unsigned rest = t * 13 + n, digits = 0;
    for (int k = 23; k >= 0 && rest; k--) if (numbers[k] <= rest) { rest -= numbers[k]; digits |= 1u << k; acc += s[(rest * 2 + (unsigned)k) & 1023]; }
    acc += s[(digits ^ digits >> 10) & 1023];
    if (digits & digits << 1) s[t & 1023] = 1; else s[(digits >> 3) & 1023] = acc;
    unsigned shifted = digits << 1, sum = 0;
    while (shifted) { unsigned k = (unsigned)__ffs((int)shifted) - 1; sum += k < 24 ? numbers[k] : 0; shifted &= shifted - 1; }
    acc += s[(sum * 4) & 1023];
    unsigned step = (g + 1 & ~g) ^ g; if (__popc(step & g) & 1) acc += s[(step * 32 + t) & 1023];
    uint2 pair = fib(t); acc += s[pair.x & 1023]; s[(pair.y * 16 + pair.x) & 1023] = acc;
    acc += s[(t * 2654435769u) >> 22];
    unsigned at = t; for (unsigned i = 0; i < 4; i++) { at = (at * 633 + 1) & 1023; if (at % 5 == i) acc += s[at]; }
    unsigned three = 0; for (unsigned k = 0, x = t; x; k++, x /= 3) three += ((x + x / 3) % 3) << k * 2; acc += s[three & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
