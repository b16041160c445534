// launch 1 32 n=2
// launch 1 64 n=3
// launch 2 48 n=4
// SpMV in CSR: offsets scanned from lengths, a thread per row, then n lanes per row; columns gather from a vector in shared memory.
extern "C" __global__ void k9128(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned offset[72], column[512], s[512];
    __shared__ float x[128];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 512; k += size) { s[k] = k; column[k] = (src[k] * 7 + k) & 127; }
    for (unsigned k = t; k < 128; k += size) x[k] = (float)(k & 15);
    unsigned length = (src[t * 9] + t) % 7 * (t % 5 != 2);
    offset[t + 1] = length;
    if (t == 0) offset[0] = 0;
    __syncthreads();
    for (unsigned d = 1; d <= size; d *= 2) {
        unsigned v = t + 1 >= d ? offset[t + 1 - d] : 0;
        __syncthreads();
        offset[t + 1] += v;
        __syncthreads();
    }
    float sum = 0.0f;
    for (unsigned k = offset[t]; k < offset[t + 1]; k++) sum += x[column[k]];
    acc += s[(unsigned)(int)sum * 4 & 511];
    unsigned lanes = 1u << n, sub = t & (lanes - 1), groups = size / lanes;
    unsigned warp = __activemask();
    for (unsigned base = 0; base < size; base += groups) {
        unsigned row = base + t / lanes;
        float part = 0.0f;
        if (row < size)
            for (unsigned k = offset[row] + sub; k < offset[row + 1]; k += lanes) part += x[column[k] ^ 1];
        __syncwarp(warp);
        for (unsigned d = lanes / 2; d; d >>= 1) { float o = __shfl_xor_sync(warp, part, d); part += o; }
        if (sub == 0 && row < size) s[(row * 8 + (unsigned)(int)part) & 511] = row;
    }
    __syncthreads();
    acc += s[(offset[size - t] * 2) & 511];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
