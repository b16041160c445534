// launch 1 64 n=2
// launch 1 32 n=5
// launch 2 32 n=1
// Indices that the kernel itself wrote: to global, local and shared memory, by its own lane, by neighbours, by atomics.
extern "C" __global__ void k9646(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[128]; unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0, own[8];
    out[g] = t * 3; acc += src[out[g] & 1023]; out[1024 + g] = g ^ 1; __syncthreads(); acc += src[out[1024 + (g ^ 1)] & 1023] + src[out[2048 + g] & 1023];
    s[t] = t * 5 % 64; __syncthreads(); acc += src[s[t]] + src[s[s[t]] * 2]; for (unsigned i = 0; i < 8; i++) own[(i + t) & 7] = i * 9; acc += src[own[t & 7] + t] + src[own[n & 7]];
    unsigned a = atomicAdd(&s[64 + (t & 7)], 1); __syncthreads(); acc += src[s[64 + (t & 7)] & 1023] + src[(a & 0) + t]; unsigned b = atomicAdd(&out[4096 + g], 1); acc += src[b & 1023];
    volatile unsigned* v = out + 5000; v[g] = t; acc += src[v[g] & 1023]; unsigned short* h = (unsigned short*)own; h[t & 15] = (unsigned short)t; acc += src[h[t & 15]] + src[h[(t + 1) & 15] & 1023]; out[8192 + g] = acc;
}
