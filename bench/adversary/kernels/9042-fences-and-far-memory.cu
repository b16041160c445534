// launch 1 32 n=1
// launch 2 96 n=2
// launch 1 27 n=0
// Fences, atomics and loads that take long, each on one path of a branch; likewise divisions and calls.
#define WAY(k, ...) if ((l ^ n) & 1) { acc += s[(l * 2 + k) & 1023]; __VA_ARGS__; s[(l * 3 + k) & 1023] = acc; } \
    else { s[(l * 4 + k) & 1023] = acc; acc ^= s[(l * 8 + k) & 1023]; } \
    acc += s[(l * 5 + k) & 1023]; __syncthreads(); acc += s[(l * 6 + k) & 1023];
__device__ __noinline__ unsigned far(const unsigned* p, unsigned v) { unsigned x = *(const volatile unsigned*)p; for (unsigned i = 0; i < (v & 3); i++) x = x * 3 + ((const volatile unsigned*)p)[i]; return x; }
extern "C" __global__ void k9042(unsigned* out, unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, l = t & 31, acc = 0, r; unsigned long long w = t + 7ull; double d = f;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    WAY(0, __threadfence_block())
    WAY(1, __threadfence())
    WAY(2, __threadfence_system())
    WAY(3, asm volatile("fence.sc.gpu;" ::: "memory"))
    WAY(4, asm volatile("fence.proxy.async;" ::: "memory"))
    WAY(5, acc += atomicAdd(src + 2000 + t, 1u))
    WAY(6, asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(src + t) : "memory"); acc += r)
    WAY(7, asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(src + 2100 + t) : "memory"))
    WAY(8, asm volatile("prefetch.global.L2 [%0]; discard.global.L2 [%1], 128;" :: "l"(src + t), "l"(out + 3072) : "memory"))
    WAY(9, acc += far(src + t, l))
    WAY(10, w = w * 77777777777ull / (l + 3ull); acc += (unsigned)w)
    WAY(11, d = d / (l + 1.5) + sqrt(d + l); acc += (unsigned)d)
    WAY(12, acc += (unsigned)(sinf(f * (l + 100000.f)) * 10.f))
    WAY(13, acc += (unsigned)clock64() & 1)
    WAY(14, acc += atomicCAS(src + 3000, l, l + 1))
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
