// launch 2x1x3 64 n=3
// launch 1x1x4 32 n=2
// Split-K: slices of blockIdx.z wait their turn at a semaphore; the turn decides whether a slice loads, adds or stores.
extern "C" __global__ void k9703(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned z = blockIdx.z, last = gridDim.z - 1;
    volatile unsigned* turn = out + 3000 + blockIdx.x;
    for (unsigned k = z; k < n * gridDim.z; k += gridDim.z) acc += s[(k * 33 + t * (z + 1)) & 1023];
    if (t == 0) while (*turn != 3000 + blockIdx.x + z) __nanosleep(20);
    __syncthreads();
    if (z == 0) s[(t * 2) & 1023] = acc;
    else if (z < last) { s[(t * 4) & 1023] = acc; acc += s[(t + z) & 1023]; }
    else acc += s[(t * 8 + (acc & 0)) & 1023];
    __syncthreads();
    if (t == 0) { __threadfence(); *turn = z == last ? 0 : 3000 + blockIdx.x + z + 1; }
    out[(blockIdx.x * T + t) & 1023] = acc;
}
