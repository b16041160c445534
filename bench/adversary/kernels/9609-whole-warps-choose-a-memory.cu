// launch 1 128 n=0
// launch 1 96 n=2
// launch 2 64 n=1
// Each warp accesses one memory; a parameter or the warp's number chooses it; some warps access none.
__device__ __noinline__ unsigned sum(const unsigned* p, unsigned k) { unsigned a = 0; for (unsigned i = 0; i < 4; i++) a += p[i * k]; return a; }
__device__ __noinline__ void both(uint2* p, uint2 v) { *p = make_uint2(p->y, v.x); }
extern "C" __global__ void k9609(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[512];
    __align__(16) unsigned own[32];
    unsigned t = threadIdx.x, w = t >> 5, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned k = t; k < 512; k += blockDim.x) s[k] = k;
    for (unsigned i = 0; i < 32; i++) own[i] = i + t * n;
    __syncthreads();
    acc += sum(n == 0 ? src + t : n == 1 ? s + t : own, 7);
    acc += sum(w == 0 ? s + t * 2 : w == 1 ? own + (t & 7) : src + t * 4, 5);
    both(w & 1 ? (uint2*)out + g : (uint2*)own + (n & 3), make_uint2(acc, t));
    if (w != n) both(w == 3 ? (uint2*)s + t : (uint2*)out + 1000 + g * 2, make_uint2(t, acc));
    out[4096 + g] = acc + own[t & 31];
}
