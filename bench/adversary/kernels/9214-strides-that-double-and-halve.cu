// launch 1 32 n=1
// launch 2 64 n=0
// launch 1 48 n=1
// A scan by doubling and halving strides with padded and unpadded indices; a strided walk by lane; a Gray-code walk.
#define PAD(i) ((i) + ((i) >> 5) * (n & 1))
extern "C" __global__ void k9214(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    __shared__ unsigned p[300];
    for (unsigned k = t; k < 300; k += nt) p[k] = 1;
    __syncthreads();
    unsigned size = 256, stride = 1;
    for (unsigned d = size >> 1; d > 0; d >>= 1, stride <<= 1) {
        __syncthreads();
        for (unsigned a = t; a < d; a += nt) p[PAD(stride * (2 * a + 2) - 1)] += p[PAD(stride * (2 * a + 1) - 1)];
    }
    if (t == 0) p[PAD(size - 1)] = 0;
    for (unsigned d = 1; d < size; d <<= 1) {
        stride >>= 1;
        __syncthreads();
        for (unsigned a = t; a < d; a += nt) {
            unsigned x = PAD(stride * (2 * a + 1) - 1), y = PAD(stride * (2 * a + 2) - 1), v = p[x];
            p[x] = p[y]; p[y] += v;
        }
    }
    __syncthreads();
    acc += s[(p[PAD(t)] * 4) & 1023];
    for (unsigned x = l + 1, step = 1; x < 600; x += step, step += step) acc += s[(x * 2) & 1023];
    for (unsigned step = 512 >> (l & 3); step > 4; step >>= 1 + (l & 1)) s[(step + l * (step & 24)) & 1023] = step;
    for (unsigned i = 0, g = l; i < 5; i++, g ^= (i & -i) << 3) acc += s[(g * 2) & 1023];
    for (unsigned m = 0x80000000u >> l; m; m >>= 9) s[(l * (m & 15) + 1) & 1023] = m;
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
