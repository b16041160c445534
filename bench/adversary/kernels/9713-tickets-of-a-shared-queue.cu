// launch 1 64 n=3
// launch 1 96 n=2
// A queue in shared memory: each warp reserves room by one atomicAdd for all its items, a block drains it in rounds.
extern "C" __global__ void k9713(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned queue[512], tail, head;
    if (t == 0) tail = head = 0;
    __syncthreads();
    for (unsigned round = 0; round < n; round++) {
        bool have = (t * 5 + round) % 3 != 0;
        unsigned m = __ballot_sync(~0u, have), at = 0;
        if (l == 0) at = atomicAdd(&tail, __popc(m));
        at = __shfl_sync(~0u, at, 0) + __popc(m & ((1u << l) - 1));
        if (have) queue[at & 511] = t + round * 256;
        __syncthreads();
        unsigned count = tail;
        for (unsigned i = head + t; i < count; i += T) acc += s[(i * 2) & 1023] + queue[i & 511];
        __syncthreads();
        if (t == 0) head = count;
        __syncthreads();
        acc += s[(count * l) & 1023];
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
