// launch 1 64 n=3
// launch 1 32 n=6
// Every width and order of ld, st, red and atom in assembly on one shared array, vectors of odd elements, cluster addresses.
extern "C" __global__ void k9792(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned b = (unsigned)__cvta_generic_to_shared(s), x, y, z, u; unsigned short h, i; unsigned long long q, r; float g;
#define A(k) "r"(b + ((k) & 4080))
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1+4];" : "=r"(x) : A(t * 16) : "memory"); acc += x;
    asm volatile("ld.acquire.cta.shared.u16 %0, [%1+2];" : "=h"(h) : A(t * 32) : "memory"); acc += h;
    asm volatile("ld.volatile.shared.v2.u16 {%0, %1}, [%2];" : "=h"(h), "=h"(i) : A(t * 16) : "memory"); acc += h * i;
    asm volatile("ld.shared.v4.u8 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(u) : A(t * 48) : "memory"); acc += x * y + z * u;
    asm volatile("ld.shared.v2.b64 {%0, %1}, [%2];" : "=l"(q), "=l"(r) : A(t * 16 * n) : "memory"); acc += (unsigned)(q ^ r);
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(u) : A(t * 64) : "memory"); acc += x + u;
    asm volatile("{ .reg .b128 v; ld.shared.b128 v, [%2]; mov.b128 {%0, %1}, v; }" : "=l"(q), "=l"(r) : A((t ^ 1) * 16) : "memory"); acc += (unsigned)(q + r);
    asm volatile("st.shared.v2.u8 [%0+1+1], {%1, %2};" :: A(t * 16), "r"(t), "r"(n) : "memory");
    asm volatile("st.release.cta.shared.u32 [%0], %1;" :: A(t * 64), "r"(t) : "memory");
    asm volatile("st.shared.v4.f32 [%0], {%1, %1, %1, %1};" :: A(t * 32), "f"(f) : "memory");
    asm volatile("red.shared.max.s32 [%0], %1;" :: A(t * 16), "r"(t) : "memory");
    asm volatile("red.relaxed.cta.shared.xor.b32 [%0+8], %1;" :: A((t & 3) * 16), "r"(t) : "memory");
    asm volatile("red.shared.add.u64 [%0], %1;" :: A((t & 7) * 32), "l"((unsigned long long)t) : "memory");
    asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(g) : A(l * 16), "f"(1.f) : "memory");
    asm volatile("atom.shared.cas.b16 %0, [%1], %2, %3;" : "=h"(h) : A(t * 16), "h"((unsigned short)0), "h"((unsigned short)t) : "memory"); acc += h;
    asm volatile("atom.acq_rel.cta.shared.exch.b32 %0, [%1], %2;" : "=r"(x) : A((t & 15) * 32), "r"(t) : "memory"); acc += x;
    asm volatile("atom.shared.inc.u32 %0, [%1], %2;" : "=r"(x) : A((l >> 2) * 16), "r"(9) : "memory"); acc += x;
    asm volatile("atom.shared.and.b64 %0, [%1], %2;" : "=l"(q) : A(l * 32), "l"(~0ull) : "memory"); acc += (unsigned)q;
    asm volatile("red.shared.add.noftz.f16x2 [%0], %1;" :: A(l * 16), "r"(0) : "memory");
    __syncthreads();
    acc += s[(l * 4) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
