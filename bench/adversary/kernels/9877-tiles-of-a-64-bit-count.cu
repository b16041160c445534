// launch 40 96 n=1500
// launch 7x3 33 n=70000
// launch 300 64 n=5
// launch 3x2x2 95 n=400
// 64-bit counts that become negative in some block: comparisons look at upper halves, as signed and as unsigned numbers,
// some of which change at a multiple of 2**32 far from zero.
extern "C" __global__ void k9877(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[2048];
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 2048; i += blockDim.x) s[i] = i * 3;
    __syncthreads();
    const unsigned long long count = (unsigned long long)n * 3;
    const long long left = (long long)count - (long long)blockIdx.x * 512 - (long long)blockIdx.y * 100000000000ll;
    unsigned acc = 0;
    if (left > (long long)t) acc += s[(t * 5) & 2047];
    if ((unsigned long long)left > 0xffffffffull) acc += s[(t * 7 + 1) & 2047];
    if ((int)(left >> 32) < 0) acc += s[(t * 2) & 2047];
    if ((unsigned)(left >> 32) == 0) acc += s[(t * 32) & 2047];
    if ((unsigned)(left >> 32) != 0xffffffffu) acc += s[(t * 16) & 2047];
    if ((int)((unsigned long long)left >> 32) >= -24) acc += s[(t * 12) & 2047];
    const unsigned long long far = 0x200000000ull - blockIdx.x * 1000ull - t;
    if ((unsigned)(far >> 32) > 1u) acc += s[(t * 6) & 2047];
    if ((unsigned)(far >> 32) >= 1u) acc += s[(t * 9) & 2047];
    const long long near = (long long)blockIdx.x * 3 - 20 - (long long)t;
    if (near < 0) acc += s[(t * 8) & 2047];
    else acc += s[((unsigned)near * 4) & 2047];
    if ((unsigned long long)near < 5) acc += s[(t * 3) & 2047];
    for (unsigned long long begin = blockIdx.x * 512ull; begin < count; begin += gridDim.x * 512ull) {
        const unsigned long long rest = count - begin;
        for (unsigned i = t; i < 512; i += blockDim.x * 2)
            if (i < rest) acc += s[(src[(begin + i) & 1023] + i) & 2047];
        if (rest < 512 && (long long)(rest - 100) < (long long)t) acc += s[(t * 24) & 2047];
    }
    out[(t + blockIdx.x * 37) & 1023] = acc;
}
