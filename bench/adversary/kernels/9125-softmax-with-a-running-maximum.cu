// launch 1 32 n=40
// launch 1 64 n=33
// launch 2 96 n=70
// Rows with an online maximum: rescaled where it changes; the lane of the maximum and the number of changes are addresses.
extern "C" __global__ void k9125(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float row[3][96], e[3][99];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < n * (size / 32); k += size) row[k / n][k % n] = (float)((src[k * 7 & 2047] * 29) % 101);
    __syncthreads();
    float top = -1.0f, sum = 0.0f;
    unsigned changes = 0, where = 0;
    for (unsigned i = l; i < n; i += 32) {
        float x = row[w][i];
        if (x > top) {
            sum *= __expf(top - x);
            top = x;
            where = i;
            changes++;
            s[(changes * 32 + l) & 1023] = i;
        }
        sum += __expf(x - top);
    }
#pragma unroll
    for (unsigned d = 16; d; d >>= 1) {
        float o = __shfl_xor_sync(~0u, top, d), p = __shfl_xor_sync(~0u, sum, d);
        unsigned q = __shfl_xor_sync(~0u, where, d);
        float both = fmaxf(top, o);
        sum = sum * __expf(top - both) + p * __expf(o - both);
        if (o > top || (o == top && q < where)) where = q;
        top = both;
    }
    acc += s[(where * l) & 1023] + s[(unsigned)top * 3 + changes * 16 & 1023];
    float inverse = __fdividef(1.0f, sum);
    for (unsigned i = l; i < n; i += 32) e[w][(i * 3) % 99] = __expf(row[w][i] - top) * inverse;
    __syncwarp();
    unsigned above = __popc(__ballot_sync(~0u, row[w][l] > top * 0.5f));
    acc += s[(above * l) & 1023] + __float_as_uint(e[w][(where + l) % 99]);
    unsigned clipped = (unsigned)fminf(e[w][l * 3] * 1.0e-30f, 100.0f);  // always 0
    acc += s[(clipped * 32 + l * 2) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
