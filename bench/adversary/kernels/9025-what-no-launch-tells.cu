// launch 4 64 n=1
// launch 1 96 n=3
// Addresses from clocks, multiprocessor and warp numbers, and addresses that are the same whatever these are.
#define READ(name, reg) __device__ __forceinline__ unsigned name() { unsigned r; asm volatile("mov.u32 %0, %" #reg ";" : "=r"(r)); return r; }
READ(smid, %smid) READ(nsmid, %nsmid) READ(warpid, %warpid) READ(nwarpid, %nwarpid) READ(gridid, %clock) READ(lt, %lanemask_lt) READ(gt, %lanemask_gt)
extern "C" __global__ void k9025(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    acc += s[(t + smid()) & 1023];
    acc += s[(t * (smid() & 3)) & 1023];
    acc += s[(t * nsmid()) & 1023];
    acc += s[(warpid() * 32 + (t & 31)) & 1023];
    acc += s[((gridid() & 31) * 4 + t * 2) & 1023];
    acc += s[(nwarpid() * t) & 1023];
    acc += s[__popc(lt()) * 4 & 1023] + s[(gt() >> 27) & 1023];
    if (gridid() & 1) s[(t * 3) & 1023] = 1;
    if (smid() == 0) acc += s[(t * 8) & 1023];
    acc += s[(unsigned)(clock64() >> 60) + t * 2];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
