// launch 1 32 n=1
// launch 2 64 n=3
// ldmatrix, stmatrix and movmatrix: rows by shuffles, in branches of whole warps, loaded values as addresses.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9033(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned s[2048];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, a, b, c, d;
    for (unsigned k = t; k < 2048; k += blockDim.x) s[k] = k & 63;
    __syncthreads();
    unsigned row = __shfl_sync(~0u, l * 3 + n, l ^ 7) & 127;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at(s + row * 4)) : "memory");
    acc += s[(a & 63) * 4 + 1] + s[(b >> 16) * 8 & 2047] + s[(c + d) & 2047];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at(s + ((l * 17) & 127) * 8)) : "memory");
    if ((t >> 5) == n % 2) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(c) : "r"(at(s + ((l & 7) * 36))) : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(l * 0x10001u));
    acc += s[(d & 31) * 32 + 3];
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" :: "r"(at(s + ((l * 5) & 127) * 4)), "r"(l | (l + 1) << 16), "r"(7u) : "memory");
    acc += s[(s[(l * 4) & 2047] & 31) * 33];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc + a + b + c;
}
