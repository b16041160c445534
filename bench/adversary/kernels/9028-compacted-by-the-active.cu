// launch 1 32 n=3
// launch 2 64 n=5
// launch 1 27 n=2
// Loops that serve one key at a time among the active lanes; ranks of active lanes are addresses.
extern "C" __global__ void k9028(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], count;
    unsigned t = threadIdx.x, l = t & 31, acc = 0, key = (t * 5 + 3) % n;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t == 0) count = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        unsigned here = __activemask(), first = __shfl_sync(here, key, __ffs(here) - 1);
        if (key == first) {
            unsigned same = __activemask();
            acc += s[(__popc(same & ((1u << l) - 1)) * 4 + key) & 1023];
            s[(__popc(same) * l) & 1023] = key;
            done = true;
        }
    }
    s[(l * 2) & 1023] = acc;
    for (unsigned i = 0; i < 3; i++) {
        if ((t + i) % 3) {
            unsigned here = __activemask(), rank = __popc(here & ((1u << l) - 1)), base = 0, leader = __ffs(here) - 1;
            if (rank == 0) base = atomicAdd(&count, __popc(here));
            base = __shfl_sync(here, base, leader);
            s[(base + rank) & 1023] = t;
        }
        __syncwarp(__activemask());
        acc += s[(l * 8 + i) & 1023];
    }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
