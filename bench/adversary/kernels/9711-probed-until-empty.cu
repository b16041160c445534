// launch 1 64 n=64
// launch 1 32 n=40
// Linear probing by atomicCAS in shared memory, with distinct keys; look-ups of present and absent keys.
extern "C" __global__ void k9711(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned table[128];
    for (unsigned i = t; i < 128; i += T) table[i] = 0xffffffffu;
    __syncthreads();
    if (t < n) {
        unsigned key = t * 5 + 1, h = key * 2654435761u >> 25;
        while (atomicCAS(&table[h], 0xffffffffu, key) != 0xffffffffu) h = (h + 1) & 127;
        acc += s[h * 8];
    }
    __syncthreads();
    unsigned key = t * 3 + 1, h = key * 2654435761u >> 25, steps = 0;
    while (table[h] != key && table[h] != 0xffffffffu && steps < 128) { h = (h + 1) & 127; steps++; }
    acc += s[(steps * 32 + l) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
