// launch 3 64 n=700
// launch 2 96 n=129
// launch 1 45 n=333
// Grid strides in vectors of four with a scalar head and tail; a loop unrolled by hand and one by a pragma that leaves a rest.
extern "C" __global__ void k9709(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned first = blockIdx.x * T + t, stride = gridDim.x * T, head = 3 & (n >> 1), body = (n - head) / 4, i;
    if (first < head) acc += s[(first * 8) & 1023];
    for (i = first; i < body; i += stride) { unsigned k = head + i * 4; acc += s[k & 1023] + s[(k + 1) & 1023] + s[(k + 2) & 1023] + s[(k + 3) & 1023]; }
    for (unsigned k = head + body * 4 + first; k < n; k += stride) acc += s[(k * 16) & 1023];
#pragma unroll 4
    for (i = first; i < n; i += stride) acc += s[(i / 3 + i % 3 * 32) & 1023];
    for (i = first; i + 3 * stride < n; i += 4 * stride) acc += s[(i * 2) & 1023] + s[((i + stride) * 2) & 1023] + s[((i + 2 * stride) * 2) & 1023] + s[((i + 3 * stride) * 2) & 1023];
    for (; i < n; i += stride) acc += s[(i * 4) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
