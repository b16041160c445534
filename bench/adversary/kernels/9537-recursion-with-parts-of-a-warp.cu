// launch 1 32 n=2
// launch 1 64 n=3
// A recursion as deep as each lane's data say; lanes of one depth synchronise by their mask, hand over words and come back.
__device__ __noinline__ unsigned down(unsigned* s, unsigned* box, unsigned l, unsigned left, unsigned level, unsigned n) {
    unsigned mask = __match_any_sync(__activemask(), left + level * 8);
    box[l] = (l * (level + 2)) & 31;
    __syncwarp(mask);
    unsigned first = __ffs(mask) - 1, v = box[first];
    unsigned a = s[(l * 2 + v) & 1023];
    if (left) a += down(s, box, l, left - 1, level + 1, n);
    __syncwarp(mask);
    s[(l * (level + 1)) & 1023] = a;
    return (v + level) & 31;
}
extern "C" __global__ void k9537(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[64];
    box[t & 63] = l & 7;
    __syncthreads();
    unsigned depth = src[l + n] & 3;
    unsigned r = down(s, box + (t & 32), l, depth, 0, n);
    __syncwarp();
    acc += s[(r * 4) & 1023];
    acc += s[(box[t & 63] * 2) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
