// launch 1 64 n=3
// launch 1 32 n=6
extern "C" __global__ void k9824(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[64], c, s[2048];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, x = 0;
    a[t & 63] = t * 3; if (!t) c = 0; for (unsigned i = t; i < 2048; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (t < 32) {
        if (l & 1) { x = atomicAdd(&a[l], 7); if (l > 16) __nanosleep(50); }
        else x = atomicSub(&a[l], 2);
        __syncwarp();
        acc += s[(x * 8) & 2047];
        for (unsigned k = 0; k < n; ++k) if (l == k * 5 % 32) { x = atomicAdd(&c, l); acc += s[(x * 32) & 2047]; }
        __syncwarp();
        if (l < n) x = atomicAdd(&a[l & ~1u], 1);
        acc += s[(l < n ? 0 : x * 4) & 2047];
        __syncwarp();
        x = atomicExch(&a[31 - l], l); acc += s[(l > 28 ? 0 : x * 2) & 2047];
    }
    __syncthreads();
    acc += s[(c * t) & 2047];
    out[t & 1023] = acc;
}
