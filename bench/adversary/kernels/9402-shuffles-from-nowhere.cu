// launch 1 48 n=16
// launch 1 32 n=0
// launch 2 40 n=3
// shuffles from a lane that does not exist, and from lanes that have exited.
extern "C" __global__ void k9402(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[4096];
    unsigned t = threadIdx.x;
    for (unsigned k = t; k < 4096; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned v = src[t], got, other;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(got) : "r"(v), "r"(n));
    out[t & 2047] = ((volatile unsigned*)s)[(got & 63) * 32];
    if (v & 1) return;
    asm volatile("shfl.sync.idx.b32 %0, %1, 3, 31, -1;" : "=r"(other) : "r"(v));
    out[(t + 1024) & 2047] = ((volatile unsigned*)s)[(other & 63) * 32 + 1];
}
