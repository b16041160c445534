// launch 1 64 n=3
// launch 2 96 n=7
extern "C" __global__ void k9818(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[128], s[4096];
    __shared__ unsigned long long b[128];
    unsigned t = threadIdx.x, acc = 0;
    a[t] = t * 5; b[t] = t * 0x100000003ull; for (unsigned i = t; i < 4096; i += blockDim.x) s[i] = i;
    __syncthreads();
    unsigned x = atomicMax(&a[t], 100); acc += s[(x * 4) & 4095];
    x = atomicMin(&a[t], 40); acc += s[(x * 8) & 4095];
    x = atomicXor(&a[t], t * n); acc += s[(x * 2) & 4095];
    x = atomicInc(&a[t], 50); acc += s[(x * 16) & 4095];
    x = atomicDec(&a[t], 60); acc += s[(x * 32) & 4095];
    x = atomicExch(&a[t], t * 3); acc += s[(x * 4 + t) & 4095];
    x = atomicCAS(&a[t], t * 3, t * 9); acc += s[(x * 12) & 4095];
    x = atomicCAS(&a[t], t, 7); acc += s[(x * 4) & 4095];
    unsigned long long y = atomicAdd(&b[t], 5ull << 30); acc += s[(unsigned)(y >> 30) * 4 & 4095];
    y = atomicExch(&b[t], 1ull); acc += s[(unsigned)(y >> 29) & 4095];
    y = atomicCAS(&b[t], 1ull, 77ull); acc += s[((unsigned)y * t * 8) & 4095];
    acc += s[((unsigned)b[t] * (t & 3)) & 4095];
    out[(blockIdx.x * blockDim.x + t) & 1023] = acc;
}
