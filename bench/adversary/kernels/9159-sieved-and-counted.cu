// launch 1 32 n=500
// launch 1 64 n=1000
// launch 2 49 n=777
// A sieve of odd numbers in bits and of all in bytes: strides are the primes found so far; primes compacted, gaps and twins as addresses.
extern "C" __global__ void k9159(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned bits[16], before[17], s[1024];
    __shared__ unsigned short primes[200];
    __shared__ unsigned char composite[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) { s[k] = k; composite[k] = k < 2; }
    if (t < 16) bits[t] = 0;
    __syncthreads();
    for (unsigned p = 2; p * p < n; p++) {
        if (!composite[p])
            for (unsigned k = p * (p + t); k < n; k += p * size) composite[k] = 1;
        __syncthreads();
    }
    for (unsigned p = 3; p * p < n; p += 2) {
        if (!(bits[p >> 6] >> (p >> 1 & 31) & 1))
            for (unsigned k = p * p + 2 * p * t; k < n; k += 2 * p * size) atomicOr(&bits[k >> 6], 1u << (k >> 1 & 31));
        __syncthreads();
    }
    if (t == 0) {
        before[0] = 0;
        for (unsigned k = 0; k < 16; k++) before[k + 1] = before[k] + __popc(~bits[k]);
    }
    __syncthreads();
    for (unsigned k = t; k < n / 2; k += size) {
        unsigned word = bits[k >> 5];
        if (!(word >> (k & 31) & 1)) {
            unsigned place = before[k >> 5] + __popc(~word & ((1u << (k & 31)) - 1));
            if (place < 200) primes[place] = (unsigned short)(2 * k + 1);
        }
    }
    __syncthreads();
    unsigned found = min(before[n / 64], 150u);
    for (unsigned k = t; k + 1 < found; k += size) {
        unsigned gap = primes[k + 1] - primes[k];
        acc += s[(gap * 16 + k) & 1023];
        if (gap == 2) s[(primes[k] * 2) & 1023] = k;
        if (composite[primes[k] + 1] & (gap > 4)) acc += s[(primes[k] * gap) & 1023];
    }
    acc += s[(found * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
