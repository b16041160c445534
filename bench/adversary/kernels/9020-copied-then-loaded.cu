// launch 1 32 n=2
// launch 2 64 n=1
// launch 1 100 n=3
// cp.async of all sizes, partly filled with zeros, then loaded as indices; a copy by some lanes.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9020(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned d[1024], s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) { s[k] = k; d[k] = 5; }
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(d + (t * 3 & 1023))), "l"(src + t) : "memory");
    if (t % 3) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(at(d + 512 + (t * 2 & 255))), "l"(src + 2 * t), "r"(t & 7) : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    acc += s[d[t * 3 & 1023] & 1023];
    acc += s[(d[512 + (t * 2 & 255)] + t) & 1023];
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at(d + (t * 4 & 1023))), "l"(src + 4 * t), "r"(n * 4) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    uint4 v = ((uint4*)d)[t & 255];
    acc += s[v.x & 1023] + s[(v.y * 2) & 1023] + s[(v.z + t * 4) & 1023];
    acc += s[(v.w * 7 + t) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
