// launch 1 128 n=2
// launch 1 96 n=1
// Warps return before barriers whose counts are computed from those that are left; lanes return before shuffles of the rest.
extern "C" __global__ void k9756(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    if (w >= 3 && (n & 1) == 0) { acc += s[(t * 32) & 1023]; out[t] = acc; return; }
    unsigned left = T / 32 - (T >= 128 && (n & 1) == 0);
    asm volatile("bar.sync 1, %0;" :: "r"(left * 32) : "memory");
    s[(t * 2) & 1023] = w;
    asm volatile("bar.sync 2, %0;" :: "r"(left * 32) : "memory");
    acc += s[(t * 6) & 1023];
    if (l % 5 == n) return;
    unsigned m = __activemask(), x = __shfl_sync(m, l * 3, (l + 7) & 31), y = __shfl_up_sync(m, l, 2);
    acc += s[(y * 4) & 1023] + (x & 0);
    if (w == 0 && l > 20) return;
    acc += s[(__popc(__activemask()) * l) & 1023];
    if (w < 1) { __syncwarp(__activemask()); acc += s[l * 16]; }
    out[t] = acc;
}
