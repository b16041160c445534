// launch 1 32 n=42
// launch 1 63 n=12345
// launch 2 64 n=7
// Generators whose states lie in shared memory: an LCG that skips ahead by powers, xorshift, PCG with its rotation, Philox rounds, a shuffle by Feistel.
__device__ __forceinline__ unsigned pcg(unsigned long long& state) {
    unsigned long long old = state; state = old * 6364136223846793005ull + 1442695040888963407ull;
    unsigned x = (unsigned)((old >> 18 ^ old) >> 27), r = (unsigned)(old >> 59); return x >> r | x << ((32 - r) & 31);
}
extern "C" __global__ void k9347(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned long long states[64]; __shared__ uint2 keys[64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned mul = 1664525, add = 1013904223, m = 1, a = 0;
    for (unsigned skip = t * n; skip; skip >>= 1) { if (skip & 1) { m *= mul; a = a * mul + add; } add = (mul + 1) * add; mul *= mul; }
    unsigned x = m * n + a;
    states[t] = (unsigned long long)x << 20 | t; keys[t] = make_uint2(x | 1, t * 77);
    __syncthreads();
    acc += s[x >> 22];
    unsigned long long st = states[(t + 1) % T];
    for (unsigned i = 0; i < 3; i++) { unsigned r = pcg(st); acc += s[r & 1023]; if (r & 0x400) s[(r >> 11) & 1023] = acc; }
    states[(t + 1) % T] = st;
    unsigned y = x | 1; for (unsigned i = 0; i < 4; i++) { y ^= y << 13; y ^= y >> 17; y ^= y << 5; if ((y & 3) == i) break; acc += s[(y >> 8) & 1023]; }
    uint2 c = keys[T - 1 - t];
    for (unsigned i = 0; i < 4; i++) { unsigned hi = __umulhi(c.x, 0xD256D193u), lo = c.x * 0xD256D193u; c = make_uint2(hi ^ (n + i * 0x9E3779B9u) ^ c.y, lo); }
    acc += s[(c.x >> 5) & 1023]; acc += s[c.y % 1000];
    unsigned left = t >> 3 & 7, right = t & 7; for (unsigned i = 0; i < 3; i++) { unsigned h = left ^ ((right * 5 + i * 3 + n) >> 1 & 7); left = right; right = h; }
    s[((left << 3 | right) * 16) & 1023] = acc;
    __syncthreads();
    unsigned low = (unsigned)states[t]; float u = (float)(low >> 8) * 0x1p-24f;
    acc += s[(unsigned)(u * 1024.0f)]; acc += s[__umulhi(low, 1000u)];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
