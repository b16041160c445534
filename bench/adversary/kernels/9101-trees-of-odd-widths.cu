// launch 1 32 n=1
// launch 2 96 n=3
// launch 1 75 n=2
// Three block reductions (interleaved, sequential with odd halves, unrolled last warp); each total is a stride of the next.
extern "C" __global__ void k9101(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[512], r[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) r[k] = k * 5;
    s[t] = src[(t * n) & 2047] & 63;
    __syncthreads();
    for (unsigned w = 1; w < size; w *= 2) {
        unsigned i = 2 * w * t;
        if (i + w < size) s[i] += s[i + w];
        __syncthreads();
    }
    unsigned total = s[0];
    acc += r[(t * (total & 15)) & 1023];
    __syncthreads();
    s[t] = total + t;
    __syncthreads();
    for (unsigned len = size; len > 1;) {
        unsigned half = (len + 1) / 2;
        if (t < len / 2) s[t] = max(s[t], s[t + half] ^ 1);
        __syncthreads();
        len = half;
    }
    unsigned top = s[0];
    acc += r[(t * (top % 12)) & 1023];
    __syncthreads();
    s[t] = r[(top + t) & 1023] & 31;
    s[256 + t] = 0;
    __syncthreads();
    if (t < 32) {
        volatile unsigned* v = s;
        for (unsigned k = t + 32; k < size; k += 32) v[t] = v[t] + v[k];
#pragma unroll
        for (unsigned d = 16; d; d >>= 1) {
            unsigned other = t + d < size ? v[t + d] : 0;
            __syncwarp();
            if (t < d) v[t] = v[t] + other;
            __syncwarp();
        }
    }
    __syncthreads();
    acc += r[(t * (s[0] & 63)) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
