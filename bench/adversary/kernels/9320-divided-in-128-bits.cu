// launch 1 32 n=3
// launch 1 41 n=4000000000
// 128-bit products, quotients by runtime divisors, shifts by more than 64, comparisons and conversions to double: the words are addresses.
typedef unsigned __int128 U; typedef __int128 I;
extern "C" __global__ void k9320(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ U kept[41];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    U a = (U)(t + 1) * 0x9E3779B97F4A7C15ull * (n | 1) + ((U)t << 100);
    I b = (I)a - ((I)1 << 101);
    kept[t] = a;
    __syncthreads();
    U q = a / (U)(n + t * 77ull + 1), r = a % (U)(n + t * 77ull + 1);
    acc += s[(unsigned)(q >> 40) & 1023];
    acc += s[(unsigned)r & 1023];
    I c = b / ((I)t - 20 ? (I)t - 20 : 1);
    acc += s[(unsigned)(c >> (60 + (t & 7))) & 1023];
    if (b < 0) acc += s[(unsigned)(-b >> 90) & 1023]; else s[(unsigned)(b >> 93) & 1023] = acc;
    U other = kept[blockDim.x - 1 - t];
    if (other > a) s[(unsigned)(other - a >> 97) * 8 & 1023] = acc;
    else for (U x = a - other; x >> 95; x /= 3) acc += s[(unsigned)(x >> 80) & 1023];
    double d = (double)(unsigned long long)(a >> 64);
    acc += s[(unsigned)(__double_as_longlong(d) >> 42) & 1023];
    I p = (I)(long long)(t * 0x123456789ll - 0x1000000000ll) * (long long)(n - 5ll);
    acc += s[(unsigned)(p >> 64 ^ p >> 20) & 1023];
    U rot = a << (t * 3 & 127) | a >> ((128 - (t * 3 & 127)) & 127);
    acc += s[(unsigned)rot * 4 & 1023];
    __syncthreads();
    ((unsigned*)kept)[t * 4 + 1] ^= t;
    acc += s[(unsigned)(kept[t] >> 32) * 2 & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
