// launch 1 64 n=3
// launch 1 32 n=6
// Buffers with specified contents that the kernel writes through arithmetic on other pointers, bytes, atomics and copies.
extern "C" __global__ void k9806(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    size_t apart = (size_t)out - (size_t)src;
    unsigned* alias = (unsigned*)((size_t)src + apart);
    acc += s[(out[t] * 2) & 1023];
    alias[t] = (t * 3 + n) & 255; __syncthreads();
    acc += s[(out[t ^ 1] * 4) & 1023];
    ((unsigned char*)alias)[t * 4 + 1] = 1; __syncthreads();
    acc += s[(out[t ^ 2]) & 1023];
    atomicAdd(&alias[64 + (t & 7)], 2); __syncthreads();
    acc += s[(out[64 + (l & 15)] * 8) & 1023];
    unsigned long long two = ((unsigned long long*)alias)[64 + t]; acc += s[(unsigned)(two >> 32) & 1023] + s[((unsigned)two & 31) * 32];
    unsigned where = (unsigned)(sqrtf((float)(t * t)) + 0.5f); out[256 + where] = where ^ 5; __syncthreads();
    acc += s[(alias[256 + (t ^ 1)] * 16) & 1023];
    uint4 q = *(uint4*)(alias + 512 + (t & ~3u)); q.x += n; *(uint4*)(out + 512 + (t & ~3u)) = q; __syncthreads();
    acc += s[(out[512 + t]) & 1023] + s[(src[t + (unsigned)(apart & 0)] * 2) & 1023];
    *(volatile unsigned*)(out + 1024 + (t ^ 3)) = l; __syncthreads(); acc += s[(alias[1024 + t] * 32) & 1023];
    out[2048 + t] = acc;
}
