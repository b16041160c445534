// launch 1 64 n=6
// launch 1 128 n=3
// A search that any warp ends: a volatile flag in shared memory, checked between barriers and without, by whole warps.
extern "C" __global__ void k9760(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ volatile unsigned found;
    __shared__ unsigned place;
    if (t == 0) { found = 0; place = 1023; }
    __syncthreads();
    for (unsigned k = 0; k < 16; k++) {
        unsigned at = k * T + t;
        if (src[at & 1023] % 61 == n) { found = 1; atomicMin(&place, at); }
        acc += s[(at * 2) & 1023];
        __syncthreads();
        if (found) break;
        acc += s[(at * 4 + k) & 1023];
        __syncthreads();
    }
    __syncthreads();
    acc += s[(place * l) & 1023];
    if (found) acc += s[place & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
