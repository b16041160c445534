// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 43 n=3
// Groups that naps and yields let apart execute one vote, one match, one shuffle and one reduction with their own masks; all use the results.
extern "C" __global__ void k9555(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned v = src[l + n] & 15;
    if (v & 1) { __nanosleep(15); acc += 3; }
    unsigned mask = __activemask();
    unsigned b = __ballot_sync(mask, v & 2), m = __match_any_sync(mask, v >> 2), r = __reduce_max_sync(mask, v), x = __shfl_sync(mask, v, __ffs(mask) - 1);
    bool any = __any_sync(mask, v == 9), every = __all_sync(mask, v & 1);
    __syncwarp(__activemask());
    __syncthreads();
    acc += s[((l >> 1) + (b & 1) * 32) & 1023] + s[((l >> 1) + (__popc(b) & 1) * 32) & 1023];
    acc += s[((l >> 1) + (r & 1) * 32) & 1023] + s[((l >> 1) + (x & 1) * 32) & 1023];
    acc += s[(l * (__popc(m) & 3)) & 1023];
    if (any) s[(l * 2) & 1023] = acc;
    if (every) acc += s[(l * 4) & 1023]; else acc += s[(l * 3) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
