// launch 1 64 n=5
// launch 1 32 n=3
// atomicInc and atomicDec with limits that wrap, ranks by float adds, counters by 64-bit CAS loops; their results are indices.
extern "C" __global__ void k9774(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned inc, dec; __shared__ unsigned long long pair; __shared__ float sum;
    if (t == 0) { inc = 0; dec = n; pair = 0; sum = 0; }
    __syncthreads();
    unsigned a = atomicInc(&inc, n), b = atomicDec(&dec, n);
    acc += s[a * 32 + b] + s[(a * l) & 1023];
    unsigned long long old = pair, seen;
    do { seen = old; old = atomicCAS(&pair, seen, seen + 0x100000001ull); } while (old != seen);
    float x = atomicAdd(&sum, 1.f);
    acc += s[(unsigned)old * 4 & 1023] + s[(unsigned)x * 8 & 1023];
    __syncthreads();
    acc += s[(inc * l) & 1023] + s[(dec * 33 + t) & 1023] + s[(unsigned)(pair >> 32) * 2] + s[((unsigned)sum + t) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
