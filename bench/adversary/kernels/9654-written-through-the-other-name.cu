// launch 1 64 n=2
// launch 1 32 n=1
// One array by two names, one of them restrict and const in a function: what is read is what was written.
__device__ __noinline__ unsigned both(unsigned* a, const unsigned* b, unsigned t) { a[t] = t * 2; unsigned x = b[t ^ 1]; a[t ^ 1] = x + 1; return b[t]; }
extern "C" __global__ void k9654(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[512]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 512; i += blockDim.x) s[i] = i; __syncthreads();
    acc += s[both(out, out, t) & 255]; __syncthreads(); acc += s[both(out + 64, out + 64 + n, t) & 255]; __syncthreads(); unsigned* m = out + 200; m[-(int)t] = t * 3; __syncthreads();
    acc += s[out[200 - t] & 127]; acc += s[out[136 + (t ^ 3)] & 255]; out[600 + t] = acc;
}
