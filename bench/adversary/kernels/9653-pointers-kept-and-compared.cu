// launch 1 64 n=2
// Pointers stored to shared and global memory, loaded by other lanes and subtracted, or their parts used.
extern "C" __global__ void k9653(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ const unsigned* p[64]; __shared__ unsigned s[1024]; unsigned t = threadIdx.x, acc = 0; for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i;
    p[t] = (t & 1) ? src + t : out + t * 2; __syncthreads(); const unsigned* a = p[t ^ 2]; const unsigned* b = p[(t + 2) & 63]; acc += s[(a - b) & 127]; acc += s[((size_t)a & 252)];
    acc += s[((size_t)p[t ^ 1] >> 3 & 31) * 2]; ((const unsigned**)out)[t + 64] = a; __syncthreads(); const unsigned* c = ((const unsigned**)out)[t + 64]; acc += s[(c - a) + t]; acc += s[((unsigned)(size_t)c & 31) + (t & 3)];
    unsigned lo = __shfl_xor_sync(~0u, (unsigned)(size_t)a, 4); acc += s[(lo >> 2) & 255]; acc += s[((unsigned)(size_t)src - (unsigned)(size_t)a) / 4 & 127]; out[2048 + t] = acc;
}
