// launch 1 32 n=1
// launch 1 64 n=3
// launch 1 40 n=2
// Buffers that the kernel writes and reads back as indices: its own words, its neighbours', by atomics and by vectors.
extern "C" __global__ void k9038(unsigned* out, unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    acc += s[src[t] & 1023];
    src[t] = t * 3;
    acc += s[src[t] & 1023];
    acc += s[src[t + 64] & 1023];
    __syncthreads();
    acc += s[(src[(t + 1) % blockDim.x] * 2) & 1023];
    __syncthreads();
    atomicAdd(&src[t], 5);
    acc += s[(*(volatile unsigned*)&src[t] * 4) & 1023];
    ((uint2*)src)[t + 64] = make_uint2(t, n);
    acc += s[(src[2 * t + 128] * 8 + src[2 * t + 129]) & 1023];
    ((unsigned char*)(src + 512))[t * 4 + 1] = t;
    acc += s[(src[512 + t] >> 5) & 1023];
    unsigned* alias = (unsigned*)((unsigned long long)(src + 700) ^ (n & 0));
    alias[t] = t * 7;
    acc += s[src[700 + t] & 1023];
    out[t] = t * 9; __threadfence();
    acc += s[((volatile unsigned*)out)[t] & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
