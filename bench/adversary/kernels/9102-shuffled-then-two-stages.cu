// launch 1 64 n=1
// launch 2 128 n=4
// launch 1 83 n=7
// Warp sums by shuffles with masks of partial warps, a second stage by as many lanes as warps, arg-max as an address.
__device__ __forceinline__ unsigned members() { unsigned left = blockDim.x - (threadIdx.x & ~31u); return left >= 32 ? ~0u : (1u << left) - 1; }
extern "C" __global__ void k9102(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned part[32], best[32], s[1024];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, warps = (size + 31) / 32, acc = 0;
    for (unsigned k = t; k < 1024; k += size) s[k] = (k * 13) & 255;
    unsigned mask = members(), width = __popc(mask), v = (src[t] * 37 + n) & 127;
    unsigned sum = v, arg = v << 8 | t;
#pragma unroll
    for (unsigned d = 16; d; d /= 2) {
        unsigned a = __shfl_down_sync(mask, sum, d), b = __shfl_xor_sync(mask, arg, d);
        if (l + d < width) sum += a;
        if ((l ^ d) < width) arg = max(arg, b);
    }
    if (l == 0) part[w] = sum;
    if (l == width - 1) best[w] = arg;
    __syncthreads();
    if (w == 0) {
        unsigned first = (1u << warps) - 1;
        if (l < warps) {
            unsigned p = part[l], b = best[l];
            for (unsigned d = 1; d < warps; d *= 2) {
                unsigned o = __shfl_up_sync(first, p, d), c = __shfl_sync(first, b, (l + d) % warps);
                if (l >= d) p += o;
                b = max(b, c);
            }
            part[l] = p;
            best[l] = b;
        }
    }
    __syncthreads();
    unsigned base = w ? part[w - 1] : 0, winner = best[0] & 255, value = best[0] >> 8;
    acc += s[(base + l * (value & 7)) & 1023];
    if (t == winner) s[(t * 32) & 1023] = sum;
    if (t <= winner) acc += s[(t * (part[warps - 1] & 15)) & 1023];
    __syncthreads();
    s[(l * (winner | 1) + w) & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc + sum;
}
