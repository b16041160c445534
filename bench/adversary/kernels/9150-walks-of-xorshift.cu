// launch 1 32 n=7
// launch 2 64 n=13
// launch 1 57 n=1
// Monte Carlo: xorshift states per lane, rejection until accepted, jumps by powers, histograms of walks, samples by 24-bit floats.
__device__ __forceinline__ unsigned next(unsigned& x) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; return x; }
extern "C" __global__ void k9150(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned hits[64], s[1024];
    __shared__ unsigned long long wide[64];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 64; k += size) { hits[k] = 0; wide[k] = k * 0x123456789abcdefull; }
    __syncthreads();
    unsigned x = (t + blockIdx.x * 977 + 1) * 2654435761u ^ n, trips = 0;
    unsigned r;
    do { r = next(x) >> 22; trips++; } while (r % 5 > n % 4 && trips < 40);
    acc += s[r];
    s[(trips * 32 + (t & 31)) & 1023] = r;
    int place = 32;
    for (unsigned k = 0; k < 12; k++) {
        place += (next(x) & 0x100) ? 1 : -1;
        if (__popc(x) & 1) atomicAdd(&hits[place & 63], 1u);
    }
    float u = (float)(next(x) >> 8) * (1.0f / 16777216.0f), v = (float)(next(x) & 0xffff) * (1.0f / 65536.0f);
    if (u * u + v * v < 1.0f) atomicOr(&hits[(unsigned)(u * 64.0f)], 0x10000u);
    acc += s[(unsigned)(v * 1024.0f)];
    unsigned long long state = (unsigned long long)x << 32 | t;
    for (unsigned k = 0; k < 3; k++) {  // PCG: 64-bit steps, output by a rotation that the state chooses
        state = state * 6364136223846793005ull + (n << 1 | 1);
        unsigned y = (unsigned)(((state >> 18) ^ state) >> 27), turn = (unsigned)(state >> 59);
        y = y >> turn | y << (-turn & 31);
        acc += s[y & 1023];
        atomicXor(&wide[y >> 26], state);
    }
    __syncthreads();
    acc += s[(hits[t & 63] * 4 + t) & 1023];
    acc += s[(unsigned)(wide[t & 63] >> 40) & 1023];
    unsigned bounded = __umulhi(next(x), 100 + n);  // Lemire's
    s[(bounded * 8) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
