// launch 1 256 n=3
// launch 1 256 n=4
// Two warpgroups with setmaxnreg and named barriers: one fills a slot while the other reads the last, bar.arrive one way.
extern "C" __global__ void __maxnreg__(32) k9781(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned slot[2][128];
    unsigned g = t >> 7, u = t & 127;
    if (g == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        for (unsigned k = 0; k < n; k++) {
            asm volatile("bar.sync %0, 256;" :: "r"(3 + (k & 1)) : "memory");
            slot[k & 1][(u * 3 + k) & 127] = u * 2 + k;
            asm volatile("bar.arrive %0, 256;" :: "r"(1 + (k & 1)) : "memory");
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 40;");
        asm volatile("bar.arrive 3, 256;\n bar.arrive 4, 256;" ::: "memory");
        for (unsigned k = 0; k < n; k++) {
            asm volatile("bar.sync %0, 256;" :: "r"(1 + (k & 1)) : "memory");
            unsigned v = slot[k & 1][u];
            if (k + 2 < n) asm volatile("bar.arrive %0, 256;" :: "r"(3 + (k & 1)) : "memory");
            acc += s[v & 1023] + s[(v * 8 + l) & 1023];
        }
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
