// launch 1 64 n=1
// launch 1 31 n=9
// launch 3 20 n=2
// ldu of several types, non-coherent vectors of bytes and half-words, the same address in all lanes by several ways.
extern "C" __global__ void k9616(unsigned* out, const unsigned* __restrict__ src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, a, b, c, d, acc = 0; unsigned short h, i; unsigned long long q, r;
    asm volatile("ldu.global.u32 %0, [%1];" : "=r"(a) : "l"(src + n)); acc += a;
    asm volatile("ldu.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(src + 4 * blockIdx.x)); acc += a + d;
    asm volatile("ldu.global.u16 %0, [%1];" : "=h"(h) : "l"((const unsigned short*)src + g * 3)); acc += h;
    asm volatile("ld.global.nc.v4.u8 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"((const char*)src + g * 20)); acc += a + b * c + d;
    asm volatile("ld.global.nc.v2.u16 {%0, %1}, [%2];" : "=h"(h), "=h"(i) : "l"((const char*)src + g * 12)); acc += h + i;
    asm volatile("ld.global.nc.v2.u8 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"((const char*)src + g * 6)); acc += a + b;
    asm volatile("ld.global.nc.v2.u64 {%0, %1}, [%2];" : "=l"(q), "=l"(r) : "l"((const char*)src + g * 48)); acc += (unsigned)(q ^ r);
    uchar4 u = ((const uchar4*)src)[g * 3]; ushort2 s = ((const ushort2*)src)[g ^ 2]; uchar2 w = ((const uchar2*)src)[g * 9]; short4 z = ((const short4*)src)[g * 5];
    acc += u.x + s.y + w.x + z.w + src[blockIdx.x * 7] + src[n * 3] + src[(t >> 5) * 9];
    ((uchar4*)out)[g * 3] = u; ((ushort2*)out)[1000 + g] = s; ((uchar2*)out)[4000 + g * 3] = w; ((short4*)out)[2000 + g * 5] = z;
    out[8192 + g] = acc;
}
