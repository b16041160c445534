// launch 1 64 n=1
// launch 1 128 n=2
// The same at named barriers of two warps, reached from a switch; and at a barrier that counts.
extern "C" __global__ void k9558(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __syncthreads();
    unsigned v = src[l * 3 + n];
    if (src[l + n] < 2000 + l) {
        switch (v & 3) {
            case 0: acc = s[(l * 3) & 1023]; __nanosleep(20); break;
            case 1: acc = s[(l * 5) & 1023] + 1; break;
            case 2: __nanosleep(60); acc = s[(l * 7) & 1023]; break;
            default: acc = 4;
        }
        asm volatile("barrier.sync %0, 64;" :: "r"(1 + (w >> 1)) : "memory");
        acc += s[(l * 2) & 1023];
        unsigned count;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 3; barrier.red.popc.u32 %0, 8, p; }" : "=r"(count) : "r"(v & 3) : "memory");
        acc += s[(l * 4) & 1023];
        acc += s[((l >> 1) + (count & 1) * 32) & 1023];
    }
    __syncthreads();
    acc += s[(l * (acc & 1)) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
