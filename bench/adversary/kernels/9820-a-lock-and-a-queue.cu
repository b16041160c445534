// launch 1 32 n=3
// launch 1 64 n=4
extern "C" __global__ void k9820(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned lock, head, queue[64], s[2048];
    unsigned t = threadIdx.x, l = t & 31, acc = 0;
    if (!t) { lock = 0; head = 0; }
    if (t < 64) queue[t] = t * 9; for (unsigned i = t; i < 2048; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (t < 32) {
        for (unsigned k = 0; k < n; ++k) {
            unsigned go = src[(t * 5 + k) & 1023] & 1, m = __ballot_sync(~0u, go), at = 0;
            if (l == 0) at = atomicAdd(&head, __popc(m));
            at = __shfl_sync(~0u, at, 0);
            if (go) { unsigned p = at + __popc(m & ((1u << l) - 1)); acc += s[(queue[p & 63] * 4) & 2047]; }
        }
        if (l == 7) { while (atomicCAS(&lock, 0, 1)); acc += s[(head * 32) & 2047]; atomicExch(&lock, 0); }
    }
    __syncthreads();
    acc += s[(head * t) & 2047];
    out[t & 1023] = acc;
}
