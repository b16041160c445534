// launch 2 64 n=17
// launch 1 96 n=6
// Divergent recursion, then votes and shuffles as addresses, __syncwarp, and a barrier.
__device__ __noinline__ unsigned walk(unsigned x, unsigned d) { if (!d || x % 7 == 3) return x & 255; return walk(x * 3 + d, d - 1) + (x & 1); }

extern "C" __global__ void k10036(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[3 * 1400], few[32];
    const unsigned t = threadIdx.x, lane = t & 31;
    volatile unsigned* const mine = s + (t >> 5) * 1400;
    if (t < 32) few[t] = src[t * 9] & 15;
    for (unsigned i = lane; i < 1400; i += 32) mine[i] = i * 3;
    __syncthreads();
    unsigned v = src[(t * 5 + n) & 4095] + blockIdx.x;
    v = walk(v & 511, 2 + (v & 3)) + walk(v & 63, 3);
    const unsigned active = __popc(__activemask());
    v += mine[lane * (1 + (active & 3))];
    __syncwarp();
    v += mine[lane];
    const unsigned yes = __ballot_sync(0xffffffffu, v & 1);
    v += mine[lane + (__popc(yes) & 15) * 31];
    __syncthreads();
    v += mine[lane * 2];
    out[blockIdx.x * 96 + t] = v;
}
