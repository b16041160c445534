// launch 1 64 n=1
// launch 1 96 n=2
// launch 1 64 n=4
// Lanes poll words of another warp by test, nap, vote and shuffle, doing work in every trip; each lane waits for a word of its own.
extern "C" __global__ void k9548(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ volatile unsigned ready[32];
    if (t < 32) ready[t] = 0;
    __syncthreads();
    if (w == 1) { for (unsigned k = 0; k < 4; k++) { if ((l & 3) == ((k + n) & 3)) ready[l] = k + 1; __nanosleep(100); __syncwarp(); acc += s[(l * 2 + k) & 1023]; } }
    else if (w == 0) {
        unsigned trips = 0, x;
        while ((x = ready[l]) == 0) { trips++; if (trips < 2) acc += s[(l * 4) & 1023]; }
        acc += s[(l + x * 32) & 1023];
        __syncwarp();
        s[(l * x) & 1023] = trips;
        while (!__all_sync(~0u, ready[l] > 0)) acc += 1;
        acc += s[(l * 8) & 1023];
        unsigned lead = __shfl_sync(~0u, x, 5);
        acc += s[(l * lead) & 1023];
    }
    __syncthreads();
    acc += s[(ready[l] * 32 + (l >> 2)) & 1023];
    if (ready[n] & 1) s[(l * 3) & 1023] = acc;
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
