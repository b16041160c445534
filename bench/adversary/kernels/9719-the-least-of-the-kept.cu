// launch 1 32 n=5
// launch 1 64 n=7
// Top k: each lane keeps a heap of k in shared memory, at stride T, and replaces its root; sifts of different depth.
extern "C" __global__ void k9719(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned heap[8 * 64];
    for (unsigned i = 0; i < n; i++) heap[i * T + t] = 0;
    for (unsigned j = 0; j < 20; j++) {
        unsigned v = src[(j * 37 + t * 11) & 1023];
        if (v <= heap[t]) continue;
        unsigned at = 0;
        for (;;) {
            unsigned child = 2 * at + 1;
            if (child >= n) break;
            if (child + 1 < n && heap[(child + 1) * T + t] < heap[child * T + t]) child++;
            if (heap[child * T + t] >= v) break;
            heap[at * T + t] = heap[child * T + t];
            at = child;
        }
        heap[at * T + t] = v;
    }
    __syncthreads();
    for (unsigned i = 0; i < n; i++) acc += s[heap[i * T + t]];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
