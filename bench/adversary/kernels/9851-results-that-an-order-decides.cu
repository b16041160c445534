// launch 1 128 n=4
// launch 1 64 n=17
// launch 2 48 n=3
// launch 1 32 n=1
// atomics of shared memory whose results are addresses: same values, zero, exchanges of equal values, wrapping increments, by lanes at unknown places
extern "C" __global__ void k9851(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned h[64], s[1024], m[8];
    __shared__ unsigned long long d[8];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += nt) s[i] = i;
    for (unsigned i = t; i < 64; i += nt) h[i] = i * 5;
    if (t < 8) { m[t] = 100 + t; d[t] = t * 3; }
    __syncthreads();
    unsigned r = atomicAdd(&h[t & 63], 0);                   // each word by two warps, nothing is added
    acc += s[(r * 8) & 1023];
    r = atomicOr(&h[(t * 2) & 63], 0x100);                   // the first gets another number than the rest
    acc += s[(r & 0xff) * 4 & 1023];
    __syncthreads();
    r = atomicMax(&m[0], 50 + n);                            // smaller than what is there: all get the same
    acc += s[(r * l) & 1023];
    r = atomicMin(&m[1], 90);                                // the first of all gets 101
    acc += s[(r & 64) + l * 2 & 1023];
    __syncthreads();
    r = atomicExch(&m[2 + (w & 1)], 55);                     // one gets what was there
    acc += s[(r * l) & 1023];
    r = atomicInc(&m[4 + (l & 1)], 3);                       // from above its limit to zero
    acc += s[(l * 32 + (r & 0)) & 1023];
    __syncthreads();
    r = atomicCAS(&m[6], 7, 9);                              // never equal
    acc += s[(r + l * 4) & 1023];
    if (l == 3) r = atomicCAS(&m[7], 107 + w, 108 + w);      // one lane a warp
    acc += s[(r + l) & 1023];
    unsigned long long e = atomicAdd(&d[w & 7], l == 5 ? 1ull << 33 : 0ull);
    acc += s[((unsigned)(e >> 33) * 31 + l * 3) & 1023];
    __syncthreads();
    unsigned at = src[(t * 3) & 1023] & 63;
    r = atomicAdd(&h[at], 4);                                // places by data
    acc += s[(r * 4) & 1023];
    __syncthreads();
    r = h[(l * 7) & 63];
    acc += s[(r * 2) & 1023];
    if (l == 0) { r = atomicAdd(&m[0], n); }
    r = __shfl_sync(~0u >> (w * 32 + 32 > nt ? 32 - (nt & 31) : 0), r, 0);
    acc += s[((r - 100) / (n ? n : 1) * 16 + l) & 1023];
    for (unsigned k = 0; k < n; ++k) {                       // one warp alone
        if (w == 0) { r = atomicAdd(&d[7], 1ull); acc += s[((unsigned)(r - 21) % 32 * l) & 1023]; }
    }
    out[(blockIdx.x * nt + t) & 1023] = acc;
}
