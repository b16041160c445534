// launch 1 16x4 n=16
// launch 1 9x7 n=9
// launch 2 32x2 n=32
// A transpose whose padding is chosen at run time so that the stride is odd, or coprime to 32, or rounded to the next power of two plus one.
__device__ __forceinline__ unsigned gcd(unsigned a, unsigned b) { while (b) { unsigned r = a % b; a = b; b = r; } return a; }
extern "C" __global__ void k9312(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048];
    __shared__ unsigned strides[8];
    unsigned x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, T = w * h, t = y * w + x, acc = 0;
    for (unsigned k = t; k < 2048; k += T) s[k] = k;
    if (t < 8) {
        unsigned p = n + t;
        if (t & 1) p |= 1;
        if (t & 2) while (gcd(p, 32) > 1) p++;
        if (t & 4) p = (1u << (32 - __clz(p - 1))) + (t & 1);
        strides[t] = p;
    }
    __syncthreads();
    for (unsigned k = 0; k < 8; k++) {
        unsigned p = strides[k];
        s[(y * p + x) & 2047] = acc + k;
        acc += s[(x * p + y) & 2047];
    }
    unsigned mine = strides[t & 7];
    acc += s[(x * mine + y) & 2047];
    unsigned pad = (n + 31) / 32 * 32 - n, pitch = n + (pad ? pad : 1);
    acc += s[(x * pitch + y * 3) & 2047];
    unsigned skew = (x + y * (n >> 2)) % w;
    s[(y * w + skew + 1024) & 2047] = acc;
    unsigned long long wide = (unsigned long long)pitch * 0x100000001ull;
    acc += s[(x * (unsigned)(wide >> 32) + (unsigned)wide * y) & 2047];
    if (gcd(mine, x + 1) == 1) acc += s[(x * (mine + pad)) & 2047];
    int back = (int)(w - 1 - x) * -(int)mine + (int)(w * 32);
    s[(unsigned)(back + (int)y) & 2047] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
