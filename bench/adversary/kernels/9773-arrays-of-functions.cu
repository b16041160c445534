// launch 1 64 n=3
// launch 1 32 n=4
// Shared arrays inside functions and templates, extern arrays of other types over the same bytes, addresses that are compared.
template <int N> __device__ __noinline__ unsigned kept(unsigned t, unsigned n) { __shared__ unsigned mine[N * 32]; mine[t * N % (N * 32)] = t + n; __syncthreads(); unsigned v = mine[(t * 3 + n) % (N * 32)]; __syncthreads(); return v; }
__device__ __noinline__ unsigned bytes(unsigned t) { extern __shared__ unsigned char over[]; return over[t * 3]; }
__device__ __noinline__ double wide(unsigned t) { extern __shared__ double big[]; return big[t]; }
// launch 1 64 n=2 shared=1024
extern "C" __global__ void k9773(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    acc += kept<1>(t, n) + kept<3>(t, n) + kept<4>(t, n + 1);
    __shared__ unsigned a[32], b[32];
    if (t < 32) { a[t] = t; b[t] = t * 2; }
    __syncthreads();
    unsigned* p = (n & 1) ? a : b; acc += p[(t * 2) & 31]; unsigned* q = &a[0] < &b[0] ? a : b; acc += q[t & 31] + s[(unsigned)(p - q) & 63];
    unsigned size; asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    if (size >= 512) acc += bytes(t) + (unsigned)wide(t);
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
