// launch 1 64 n=1
// launch 1 50 n=4
// launch 2 32 n=7
// L1::no_allocate, L2::64B to 256B, eviction priorities, cache hints, prefetches beside loads, discards and priorities.
extern "C" __global__ void k9614(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, a, b, c, d, acc = 0; const unsigned* p = src + n * 4; unsigned long long policy;
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(a) : "l"(p + g * 2)); acc += a;
    asm volatile("ld.global.L1::evict_last.L2::128B.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p + g * 6)); acc += a + b;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p + g * 12)); acc += a + d;
    asm volatile("ld.global.L2::64B.u8 %0, [%1];" : "=r"(a) : "l"((const char*)p + g * 9)); acc += a;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_first.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(a) : "l"(p + (g ^ 9)), "l"(policy)); acc += a;
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(out + g * 8), "r"(acc) : "memory");
    asm volatile("st.global.L2::cache_hint.u16 [%0], %1, %2;" :: "l"((char*)out + 8192 + g * 6), "h"((unsigned short)acc), "l"(policy) : "memory");
    asm volatile("red.global.add.L2::cache_hint.u32 [%0], %1, %2;" :: "l"(out + 4096 + g / 3), "r"(acc), "l"(policy) : "memory");
    asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2 [%1]; prefetch.global.L2::evict_last [%2];" :: "l"(p + g * 3), "l"(p + g), "l"(p + 64));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128; discard.global.L2 [%1], 128;" :: "l"((char*)out + 32768 + t * 128), "l"((char*)out + 40960 + t * 128));
    asm volatile("prefetchu.L1 [%0];" :: "l"(p + g));
    if (t & 1) asm volatile("prefetch.global.L2 [%0];" :: "l"(p + g * 5));
    out[14336 + g] = acc;
}
