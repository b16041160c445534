// launch 1 64 n=3
// launch 2 128 n=2
// Words of other warps, with barriers between and without; several lanes of one warp at one word.
extern "C" __global__ void k9819(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned a[256], q, s[4096];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    a[t] = t; if (!t) q = 0; for (unsigned i = t; i < 4096; i += T) s[i] = i;
    __syncthreads();
    unsigned x = atomicAdd(&a[(t + 32) % T], 2); acc += s[(x * 8) & 4095];
    __syncthreads();
    x = atomicAdd(&a[t ^ 1], x); acc += s[(x * 4) & 4095];
    __syncthreads();
    if ((t & 31) == 5) { x = atomicAdd(&q, 1); acc += s[(x & 0) * 32]; }
    __syncthreads();
    if (t < 3) x = atomicAdd(&a[0], 0); 
    acc += s[(a[0] * t) & 4095];
    __syncthreads();
    if (t == T - 1) { x = atomicExch(&q, 9); x += atomicAdd(&q, 4); a[1] = x; }
    __syncthreads();
    acc += s[(a[1] * t * 2) & 4095];
    for (unsigned k = 0; k < n; ++k) { x = atomicAdd(&a[t], 3 + k); acc += s[(x * 4) & 4095]; }
    out[(blockIdx.x * T + t) & 1023] = acc;
}
