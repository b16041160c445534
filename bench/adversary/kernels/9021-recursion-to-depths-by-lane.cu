// launch 1 32 n=3
// launch 2 64 n=4
// launch 1 41 n=2
// A function that calls itself to a depth by lane, with branches that reconverge around the call, and
// addresses that depend on the depth.
__device__ __noinline__ unsigned dive(unsigned* s, unsigned depth, unsigned t) {
    unsigned acc = s[(t * 2 + depth * 33) & 1023];
    if ((t >> depth) & 1) { s[(t * 4 + depth) & 1023] = acc; acc += 2; } else { acc ^= s[(t * 3 + depth * 64) & 1023]; }
    s[(t + depth * 40) & 1023] = depth;
    if (depth) {
        if (((t ^ depth) & 3) != 1) acc += dive(s, depth - 1, t + (t & 1));
        s[(t * 5 + depth) & 1023] = acc;
        for (unsigned i = 0; i < (t & 1) + 1; i++) acc += s[(t * 8 + i + depth * 32) & 1023];
    }
    return acc + s[(t * 6 + depth) & 1023];
}
extern "C" __global__ void k9021(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned acc = dive(s, n, t);
    s[(t * 2 + 1) & 1023] = acc;
    if (t & 4) acc += dive(s, t & 3, t + 1);
    acc += s[(t * 7) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
