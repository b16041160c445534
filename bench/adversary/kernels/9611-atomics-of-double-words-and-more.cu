// launch 1 64 n=3
// launch 1 25 n=8
// launch 2 32 n=1
// Atomics of 64 and 128 bits: add, min, max, exch, cas, doubles; half-words by compare and swap.
extern "C" __global__ void k9611(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t; unsigned long long acc = 0; unsigned long long* o = (unsigned long long*)out; double* d = (double*)out;
    acc += atomicAdd(o + g, t) + atomicMin(o + 200 + g * 2, t) + atomicMax(o + 600 + (g ^ 3), t) + atomicExch(o + 700 + g / 2, t) + atomicCAS(o + 800 + g * 5, g, acc);
    acc += atomicAnd(o + 1300 + t % 9, t) + atomicOr(o + 1400 + 64 - t, t) + atomicXor(o + 1500 + n * t, 7);
    atomicAdd(o + 2200 + g * 3, acc); atomicMax((long long*)o + 2600 + (t & 7), (long long)t); atomicOr(o + 2700 + t * 4 / 3, 1ull << t % 64);
    atomicAdd(d + 2900 + g, (double)f); acc += (unsigned long long)atomicAdd(d + 3100 + t / 4 * 5, 2.0);
    unsigned short* h = (unsigned short*)(out + 12288);
    acc += atomicCAS(h + g * 3, (unsigned short)g, (unsigned short)acc);
    unsigned long long lo, hi; 
    asm volatile("{ .reg .b128 a, b, c; mov.b128 b, {%3, %4}; mov.b128 c, {%4, %3}; atom.global.cas.b128 a, [%2], b, c; mov.b128 {%0, %1}, a; }" : "=l"(lo), "=l"(hi) : "l"((char*)out + 53248 + g * 32), "l"(acc), "l"(7ull) : "memory");
    asm volatile("{ .reg .b128 a, b; mov.b128 b, {%3, %4}; atom.global.exch.b128 a, [%2], b; mov.b128 {%0, %1}, a; }" : "=l"(lo), "=l"(hi) : "l"((char*)out + 57344 + (g & 31) * 16), "l"(acc), "l"(hi) : "memory");
    out[15360 + g] = (unsigned)(acc + lo + hi);
}
