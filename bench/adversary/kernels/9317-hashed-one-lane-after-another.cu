// launch 1 32 n=7
// launch 1 57 n=2
// launch 2 64 n=30
// Open addressing with atomicCAS, one lane after another so that the table is determined, then probed by all; cuckoo-like second hash.
extern "C" __global__ void k9317(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned keys[128], values[128];
    unsigned t = threadIdx.x, acc = 0, T = blockDim.x;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 128; k += T) { keys[k] = ~0u; values[k] = 0; }
    __syncthreads();
    unsigned key = (t * t * 5 + n) % 97, slot = key * 40503u >> 3 & 127, probes = 0;
    for (unsigned turn = 0; turn < T; turn += 16) {
        if (t >= turn && t < turn + 16)
            for (unsigned lane = 0; lane < 16; lane++) {
                if ((t & 15) == lane)
                    for (;; slot = (slot + (key | 1)) & 127) {
                        unsigned old = atomicCAS(&keys[slot], ~0u, key);
                        if (old == ~0u || old == key) break;
                        probes++;
                    }
                __syncwarp(__activemask());
            }
        __syncthreads();
    }
    atomicAdd(&values[slot], 1);
    __syncthreads();
    acc += s[(slot * 8) & 1023];
    acc += s[(values[slot] * 64 + probes) & 1023];
    unsigned want = (t * 3 + n) % 97, at = want * 40503u >> 3 & 127, steps = 0;
    while (keys[at] != want && keys[at] != ~0u && steps < 40) { at = (at + (want | 1)) & 127; steps++; }
    if (keys[at] == want) acc += s[(at * 4 + values[at]) & 1023]; else s[(steps * 32 + t) & 1023] = acc;
    unsigned fresh = atomicCAS(&values[t], 0u, t + 1);
    acc += s[((fresh ? fresh : t) * 16 + 1) & 1023];
    __syncthreads();
    if (values[t] == t + 1) s[(t * 2) & 1023] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc;
}
