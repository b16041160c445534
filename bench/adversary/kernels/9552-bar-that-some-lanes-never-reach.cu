// launch 1 32 n=1
// launch 1 64 n=1
// bar.sync that a part of the lanes reaches while the others have ended, in PTX that promises that the whole warp comes.
extern "C" __global__ void k9552(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned v = src[l + n];
    acc += s[(l * 2) & 1023];
    if (v & 1) {
        s[(l * 4) & 1023] = acc;
        asm volatile("exit;");
    }
    acc += s[(l * 3) & 1023];
    asm volatile("bar.sync 1;" ::: "memory");
    acc += s[(l * 5) & 1023];
    unsigned rest = __ballot_sync(__activemask(), v & 2);
    if (v & 2) acc += s[(l * 6) & 1023];
    __syncwarp(__activemask());
    asm volatile("bar.sync 1;" ::: "memory");
    acc += s[(l * (__popc(rest) & 7)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
