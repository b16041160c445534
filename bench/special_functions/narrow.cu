// Prints what operations that documents leave open give for edge inputs: one line "name input... result" in hexadecimal.
// Build: nvcc -arch=sm_90 narrow_edges.cu -o narrow_edges && ./narrow_edges
#include <cstdio>
#include <cstdint>
#define N 24
__device__ __constant__ uint32_t in[N] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff8abcde,
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x43e00001, 0x43e80000, 0x43f00000, 0x47600000,
    0x3a800000, 0x3b000000, 0x3b7fffff, 0x12345678};
__device__ void say(const char* name, uint32_t a, uint32_t b, uint32_t r) { printf("%s %08x %08x %08x\n", name, a, b, r); }
#define ONE(NAME, ASM, CON) { uint32_t r = 0xAAAAAAAA; asm volatile(ASM : "+r"(r) : CON); say(NAME, a, b, r); }
__global__ void conversions() {
    for (int i = 0; i < N; i++) {
        uint32_t a = in[i], b = 0x3f800000; float f = __uint_as_float(a);
        ONE("cvt.e4m3x2", "{.reg .b16 h; cvt.rn.satfinite.e4m3x2.f32 h, %1, 0f3f800000; cvt.u32.u16 %0, h;}", "f"(f));
        ONE("cvt.relu.e4m3x2", "{.reg .b16 h; cvt.rn.satfinite.relu.e4m3x2.f32 h, %1, 0f3f800000; cvt.u32.u16 %0, h;}", "f"(f));
        ONE("cvt.e5m2x2", "{.reg .b16 h; cvt.rn.satfinite.e5m2x2.f32 h, %1, 0f3f800000; cvt.u32.u16 %0, h;}", "f"(f));
        ONE("cvt.relu.e5m2x2", "{.reg .b16 h; cvt.rn.satfinite.relu.e5m2x2.f32 h, %1, 0f3f800000; cvt.u32.u16 %0, h;}", "f"(f));
        ONE("cvt.rn.bf16x2", "cvt.rn.bf16x2.f32 %0, %1, 0f3f800000;", "f"(f));
        ONE("cvt.rz.bf16x2", "cvt.rz.bf16x2.f32 %0, %1, 0f3f800000;", "f"(f));
        ONE("cvt.rn.relu.bf16x2", "cvt.rn.relu.bf16x2.f32 %0, %1, 0f3f800000;", "f"(f));
        ONE("cvt.rn.relu.f16x2", "cvt.rn.relu.f16x2.f32 %0, %1, 0f3f800000;", "f"(f));
        ONE("cvt.rna.tf32", "cvt.rna.tf32.f32 %0, %1;", "f"(f));
        ONE("cvt.rn.tf32", "cvt.rn.tf32.f32 %0, %1;", "f"(f));
        ONE("cvt.rz.tf32", "cvt.rz.tf32.f32 %0, %1;", "f"(f));
        ONE("neg.ftz", "{.reg .f32 x; mov.b32 x, %1; neg.ftz.f32 x, x; mov.b32 %0, x;}", "r"(a));
        ONE("abs.ftz", "{.reg .f32 x; mov.b32 x, %1; abs.ftz.f32 x, x; mov.b32 %0, x;}", "r"(a));
        ONE("I2I.S16.S32.SAT", "{.reg .b16 h; cvt.sat.s16.s32 h, %1; mov.b32 %0, {h, h};}", "r"(a));
        ONE("neg.f16x2", "neg.f16x2 %0, %1;", "r"(a >> 16 | a << 16));
        ONE("neg.bf16x2", "neg.bf16x2 %0, %1;", "r"(a));
        ONE("abs.bf16x2", "abs.bf16x2 %0, %1;", "r"(a));
    }
    for (uint32_t c = 0; c < 256; c++) {
        uint32_t a = c | (255 - c) << 8, b = 0;
        ONE("f16x2.e4m3x2", "{.reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e4m3x2 %0, h;}", "r"(a));
        ONE("f16x2.e5m2x2", "{.reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e5m2x2 %0, h;}", "r"(a));
    }
}
__global__ void pairs() {
    for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) {
        uint32_t a = in[i], b = in[k];
#define TWO(NAME) { uint32_t r; asm volatile(NAME " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); say(NAME, a, b, r); }
        TWO("add.bf16x2") TWO("mul.bf16x2") TWO("min.bf16x2") TWO("max.NaN.bf16x2") TWO("add.f16x2") TWO("mul.f16x2") TWO("min.f16x2")
        TWO("max.NaN.f16x2") TWO("add.ftz.f16x2") TWO("add.sat.f16x2")
        { uint32_t r; asm volatile("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x80018001)); say("fma.rn.bf16x2", a, b, r); }
        { uint32_t r; asm volatile("fma.rn.relu.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x80008000)); say("fma.rn.relu.bf16x2", a, b, r); }
        { uint32_t r; asm volatile("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0x80008000)); say("fma.rn.relu.f16x2", a, b, r); }
        // FMUL.M8: (a · b) · 8 where the product is subnormal or the result overflows
        float p = __uint_as_float(a) * __uint_as_float(b); p = p * 8.0f; say("FMUL.M8", a, b, __float_as_uint(p));
        p = __uint_as_float(a) * __uint_as_float(b); p = p * 0.5f; say("FMUL.D2", a, b, __float_as_uint(p));
        double x = __hiloint2double(a, 1), y = __hiloint2double(b, 2), m;
        asm volatile("max.f64 %0, %1, %2;" : "=d"(m) : "d"(x), "d"(y)); say("DSETP.MAX", a, b, __double2hiint(m));
    }
}
int main() {
    conversions<<<1, 1>>>(); cudaDeviceSynchronize();
    pairs<<<1, 1>>>(); cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
