// launch 1 64 n=2
// launch 1 96 n=4
// A recursion in which all threads meet at a barrier on every level, going down and coming up, with words handed over.
__device__ __noinline__ unsigned level(unsigned* s, unsigned* box, unsigned t, unsigned T, unsigned left) {
    unsigned a = box[(t + 1) % T];
    __syncthreads();
    box[t] = (a * 2 + left) & 31;
    __syncthreads();
    unsigned b = s[(box[t] * 8) & 1023];
    unsigned r = left ? level(s, box, t, T, left - 1) : a;
    __syncthreads();
    box[t] = (r + box[t]) & 31;
    __syncthreads();
    s[((t & 31) * (box[left] & 7)) & 1023] = b;
    return (r + box[(t * 3) % T]) & 31;
}
extern "C" __global__ void k9538(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    __shared__ unsigned box[96];
    box[t] = l;
    __syncthreads();
    unsigned r = level(s, box, t, T, n);
    acc += s[(r * 4) & 1023];
    __syncthreads();
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
