// launch 1 32 n=1
// launch 1 64 n=9
// launch 1 48 n=3
// Denormals, all rounding modes, flushes, saturation, NaN and infinities, conversions of every width, as addresses.
#define F2(name, ptx) __device__ __forceinline__ unsigned name(float a, float b, float c) { float r; asm volatile(ptx : "=f"(r) : "f"(a), "f"(b), "f"(c)); return __float_as_uint(r); }
F2(a0, "add.rz.f32 %0, %1, %2;") F2(a1, "add.rm.ftz.f32 %0, %1, %2;") F2(a2, "add.rp.sat.f32 %0, %1, %2;")
F2(m0, "mul.rz.f32 %0, %1, %2;") F2(m1, "mul.rp.f32 %0, %1, %2;") F2(m2, "mul.rn.ftz.f32 %0, %1, %2;") F2(m3, "mul.rm.ftz.sat.f32 %0, %1, %2;")
F2(q0, "fma.rz.f32 %0, %1, %2, %3;") F2(q1, "fma.rm.f32 %0, %1, %2, %3;") F2(q2, "fma.rp.ftz.f32 %0, %1, %2, %3;") F2(q3, "fma.rn.sat.f32 %0, %1, %2, %3;")
F2(n0, "min.NaN.f32 %0, %1, %2;") F2(n1, "max.ftz.f32 %0, %1, %2;") F2(n2, "min.xorsign.abs.f32 %0, %1, %2;") F2(n3, "copysign.f32 %0, %1, %2;")
F2(c0, "cvt.rmi.f32.f32 %0, %1;") F2(c1, "cvt.rpi.ftz.f32.f32 %0, %1;") F2(c2, "cvt.rni.sat.f32.f32 %0, %1;")
F2(d0, "div.full.f32 %0, %1, %2;") F2(d1, "div.rm.f32 %0, %1, %2;") F2(r0, "rcp.rp.f32 %0, %1;") F2(r1, "sqrt.rz.f32 %0, %1;")
#define I1(name, ptx) __device__ __forceinline__ unsigned name(float a) { unsigned r; asm volatile(ptx : "=r"(r) : "f"(a)); return r; }
I1(i0, "cvt.rzi.s32.f32 %0, %1;") I1(i1, "cvt.rpi.u32.f32 %0, %1;") I1(i2, "{ .reg .s16 h; cvt.rni.s16.f32 h, %1; cvt.s32.s16 %0, h; }") I1(i3, "{ .reg .u64 w; .reg .u32 x; cvt.rmi.u64.f32 w, %1; mov.b64 {%0, x}, w; }")
I1(i4, "{ .reg .f16 h; .reg .b16 b; cvt.rz.f16.f32 h, %1; mov.b16 b, h; cvt.u32.u16 %0, b; }") I1(i5, "{ .reg .b16 b; cvt.rn.bf16.f32 b, %1; cvt.u32.u16 %0, b; }")
I1(i6, "cvt.rna.tf32.f32 %0, %1;") I1(i7, "{ .reg .b16 b; cvt.rn.satfinite.e4m3x2.f32 b, %1, %1; cvt.u32.u16 %0, b; }") I1(i8, "cvt.rn.relu.f16x2.f32 %0, %1, %1;")
I1(i9, "{ .reg .pred p, q; testp.subnormal.f32 p, %1; testp.notanumber.f32 q, %1; selp.u32 %0, 8, 3, p; @q add.u32 %0, %0, 100; }")
I1(ia, "{ .reg .f64 d; .reg .u32 x; cvt.f64.f32 d, %1; mul.rp.f64 d, d, 0d3ff0000000000001; mov.b64 {%0, x}, d; }")
I1(ib, "{ .reg .f64 d; cvt.f64.f32 d, %1; cvt.rni.s32.f64 %0, d; }")
extern "C" __global__ void k9015(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
#define USE(x) { unsigned v = x; acc += s[(v ^ v >> 9 ^ v >> 18) & 1023]; }
    for (unsigned k = 0; k < 3; k++) {
        float a = __uint_as_float(k == 0 ? t * 70000u + n : k == 1 ? 0x3F800000u + t * 999983u : 0x7F7FFF00u + t * 40u);
        float b = __uint_as_float(k == 0 ? 0x00800000u - t * 5000u : k == 1 ? 0xC0490FDBu + t * 77777u : 0xFF800000u - t * 9u), c = f * (float)t - 1e-38f;
        USE(a0(a, b, c)) USE(a1(a, b, c)) USE(a2(a, b, c)) USE(m0(a, b, c)) USE(m1(a, b, c)) USE(m2(a, b, c)) USE(m3(a, b, c))
        USE(q0(a, b, c)) USE(q1(a, b, c)) USE(q2(a, b, c)) USE(q3(a, b, c)) USE(n0(a, b, c)) USE(n1(a, b, c)) USE(n2(a, b, c)) USE(n3(a, b, c))
        USE(c0(a, b, c)) USE(c1(b, b, c)) USE(c2(b, b, c)) USE(d0(a, b, c)) USE(d1(a, b, c)) USE(r0(a, b, c)) USE(r1(a, b, c))
        USE(i0(b)) USE(i1(a)) USE(i2(b)) USE(i3(b)) USE(i4(a)) USE(i5(b)) USE(i6(a)) USE(i7(b)) USE(i8(a)) USE(i9(a)) USE(ia(b)) USE(ib(b))
    }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
