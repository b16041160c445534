// launch 1 32 n=1
// launch 2 64 n=3
// launch 1 21 n=2
// One access to shared, local and global memory, by lane; wide ones, atomics, and whole warps to each in rotation.
__device__ __noinline__ unsigned two(uint2* p) { uint2 v = *p; p->x = v.y; return v.x ^ v.y; }
__device__ __noinline__ unsigned four(const uint4* p) { uint4 v = *p; return v.x ^ v.w; }
__device__ __noinline__ unsigned add(unsigned* p, unsigned v) { return atomicAdd(p, v); }
extern "C" __global__ void k9031(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[1024];
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __align__(16) unsigned own[8]; for (unsigned i = 0; i < 8; i++) own[i] = i + t;
    __syncthreads();
    for (unsigned i = 0; i < 4; i++) {
        uint2* p = (t + i) % 3 == 0 ? (uint2*)s + (t * 3 & 511) : (t + i) % 3 == 1 ? (uint2*)own + (i & 3) : (uint2*)out + (1024 + g % 512);
        acc += two(p);
        const uint4* q = i == 0 ? (uint4*)s + (t & 255) : i == 1 ? (const uint4*)src + (t & 255) : t & i ? (uint4*)own : (uint4*)s + (t * 5 & 255);
        acc += four(q);
        acc += add(i == 3 ? out + 2048 + (g & 511) : (t ^ i) & 4 ? s + (t * 2 & 1023) : out + 3000 + (g & 511), i);
    }
    s[(t * 2) & 1023] = acc;
    out[g & 1023] = acc;
}
