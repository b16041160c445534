// launch 1 64 n=2
// launch 1 19 n=3
// launch 2 32 n=8
// Guarded vectors in assembly, negative offsets, generic instructions on converted addresses, isspacep, sub-word vectors, 128-bit words.
extern "C" __global__ void k9648(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[256]; unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, a = 0, b = 0, c = 0, d = 0, acc = 0; unsigned long long x = 0, y = 0; const unsigned* mid = src + 1024; s[t] = t; __syncthreads();
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %4, 20; setp.eq.and.u32 q, %5, 0, p; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%6+-64]; @q ld.global.u32 %0, [%6+12]; }" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(t), "r"(t & 1), "l"(mid + g * 4)); acc += a + b + c + d;
    asm volatile("ld.u32 %0, [%2]; ld.v2.u32 {%0, %1}, [%3+-8];" : "=r"(a), "=r"(b) : "l"(t & 1 ? (const unsigned*)s + t : src + t * 3), "l"(mid + g * 6)); acc += a + b;
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; @p ld.shared.u32 %0, [%2]; @!p ld.global.u32 %0, [%1]; }" : "+r"(a) : "l"(t & 2 ? (const unsigned*)s + t : src + g), "r"((unsigned)__cvta_generic_to_shared(s) + t * 4)); acc += a;
    asm volatile("ld.global.s8 %0, [%2+-3]; ld.global.u16 %1, [%2+6];" : "=r"(a), "=r"(b) : "l"(mid + g * 2)); acc += a + b; asm volatile("{ .reg .b128 q; ld.global.b128 q, [%2]; mov.b128 {%0, %1}, q; st.global.b128 [%3], q; }" : "=l"(x), "=l"(y) : "l"(src + g * 12), "l"(out + g * 8)); acc += (unsigned)(x ^ y);
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 7; @p st.global.v2.u64 [%0], {%2, %3}; @!p st.global.v4.u8 [%0+-16], {%1, %1, %1, %1}; @p red.global.add.u32 [%0+1024], %1; @!p atom.global.min.u32 _, [%0+2048], %1; }" :: "l"(out + 4096 + g * 4), "r"(t), "l"(x), "l"(y) : "memory"); out[8192 + g] = acc;
}
