// launch 1 32 n=3
// launch 2 64 n=7
// launch 1 20 n=1
// The results of atomics decide addresses: one word per lane, shared words, wrapping counters, exchanges.
extern "C" __global__ void k9018(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], c[128];
    unsigned t = threadIdx.x, acc = 0, r;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    for (unsigned k = t; k < 128; k += blockDim.x) c[k] = k * 3 & 31;
    __syncthreads();
    r = atomicAdd(&c[t & 127], 5); acc += s[(r * 8) & 1023];
    r = atomicExch(&c[t & 127], t * 4); acc += s[(r * 4 + 1) & 1023];
    r = atomicCAS(&c[t & 127], t * 4, 9); s[(r * 2) & 1023] = acc;
    r = atomicInc(&c[t & 127], n); acc += s[(r * 16 + t) & 1023];
    r = atomicSub(&c[t & 127], 3); acc += s[(r & 63) * 8];
    r = atomicMax((int*)&c[t & 127], -(int)t); acc += s[r & 1023];
    __syncthreads();
    if (t < 64) c[64 + (t & 63)] = 0;
    __syncthreads();
    r = atomicAdd(&c[64 + (t & 3)], 1); acc += s[(r * 4) & 1023];
    r = atomicOr(&c[80], 1u << (t & 31)); acc += s[__popc(r) * 8];
    r = atomicAdd(&c[96], 1); s[(r * 32) & 1023] = acc;
    if (t % 5 == 0) { r = atomicAdd(&c[97 + (t & 31)], t); acc += s[(r + t * 2) & 1023]; }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
