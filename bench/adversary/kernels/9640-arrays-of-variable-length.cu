// launch 1 64 n=3
// launch 1 18 n=6
// launch 2 32 n=1
// Recursion with arrays of its own, frames of different depths by lane, alloca of a length from a parameter and by lane.
#ifdef __CUDACC_RTC__
__device__ __forceinline__ void* alloca(unsigned long long bytes) { void* p; asm volatile("{ .reg .u64 a; alloca.u64 a, %1; cvta.local.u64 %0, a; }" : "=l"(p) : "l"(bytes)); return p; }
#else
#include <alloca.h>
#endif
__device__ __noinline__ unsigned frames(const unsigned* p, unsigned k, unsigned t) { unsigned a[6]; for (unsigned i = 0; i < 6; i++) a[i] = p[i & 3] + i; if (k == 0) return a[t % 6]; return frames(a + (t & 1), k - 1, t) + a[(t + k) % 6]; }
__device__ __noinline__ unsigned use(unsigned* a, unsigned k, unsigned t) { for (unsigned i = 0; i < k; i++) a[i] = i + t; unsigned s = 0; for (unsigned i = 0; i < k; i++) s += a[(i * 3 + t) % k]; return s; }
extern "C" __global__ void k9640(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0, first[4] = {t, n, g, 4};
    acc += frames(first, n & 3, t); acc += frames(src + t, t & 3, t); acc += frames(src, 2, n);
    unsigned* a = (unsigned*)alloca((n + 2) * 4); acc += use(a, n + 2, t); unsigned* b = (unsigned*)alloca(((t & 3) + 1) * 4); acc += use(b, (t & 3) + 1, t);
    a[t % (n + 2)] = acc; out[g] = acc + a[n & 1] + b[0];
}
