// launch 1 32 n=1
// launch 1 64 n=2
// launch 1 37 n=6
// Groups of lanes that a nap diverged take the active mask at one instruction; its bits are offsets and truths for all afterwards.
extern "C" __global__ void k9506(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    if (src[l * 5 + n] & 1) { __nanosleep(25); acc = 2; }
    unsigned m = __activemask();
    __syncthreads();
    acc += s[((l >> 1) + (m & 1) * 32) & 1023];
    if (m & 2) s[(l * 2) & 1023] = acc;
    acc += s[(l * (__popc(m) & 3)) & 1023];
    unsigned most = src[l + n] & 3, last = 0;
    for (unsigned k = 0; k <= most; k++) last = __activemask();
    __syncwarp();
    acc += s[((l >> 1) + (last & 1) * 32) & 1023];
    acc += s[((l >> 1) + (__popc(last) & 1) * 32) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
