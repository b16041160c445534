// launch 1 256 n=2
// launch 1 384 n=3
// Warpgroups that give up and take registers; named barriers of 128 and 256 threads hand over rows of indices.
#define SYNC(id, count) asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory")
extern "C" __global__ __launch_bounds__(384, 1) void k9513(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned rows[2][128];
    __syncthreads();
    unsigned group = t >> 7, me = t & 127, groups = T >> 7;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (unsigned i = 0; i < n; i++) for (unsigned g = 1; g < groups; g++) {
            if (i) SYNC(8 + g, 256);
            rows[g - 1][me] = (me * (i + g + 1)) & 127;
            SYNC(g, 256);
        }
        acc += s[(l * 2) & 1023];
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        for (unsigned i = 0; i < n; i++) {
            SYNC(group, 256);
            unsigned a = rows[group - 1][me ^ 1];
            if (i + 1 < n) asm volatile("bar.arrive %0, 256;" :: "r"(8 + group) : "memory");
            acc += s[(a * 4) & 1023];
            if (a & 8) s[(l * (a & 7)) & 1023] = i;
        }
        if (n > 1 && group + 1 == groups) SYNC(15, 128);
    }
    __syncthreads();
    acc += s[(l * rows[0][3]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
