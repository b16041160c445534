// launch 1 64 n=20
// launch 1 33 n=31
// launch 2 45 n=50
// Short conditions that become predicates: guarded stencils, tails of vectors, conditional stores, in unrolled loops.
extern "C" __global__ void k9605(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    if (t > 0) acc += src[g - 1];
    if (t < n) acc += src[g + 1];
    if ((t & 5) == 4) acc += src[g * 3];
    #pragma unroll
    for (int k = -2; k <= 2; k++) { int i = (int)g + k; if (i >= 0 && i < (int)n) acc += src[i] * (k + 3); }
    #pragma unroll
    for (int k = 0; k < 4; k++) if (g * 4 + k < n * 3 + 1) out[g * 4 + k] = acc + k;
    unsigned v = g < n ? ((const uint2*)src)[g * 2].x : t & 1 ? src[g] : 0;
    if (v & 1) out[2048 + g] = v;
    if (!(t & 8) && g + 1 < n) ((ulonglong2*)out)[512 + g] = make_ulonglong2(acc, v);
    if (n > 40) out[6000 + t * 2] = acc;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 9; @p st.global.v2.u32 [%0], {%1, %2}; @!p st.global.u16 [%0+4], %1; }"
        :: "l"((char*)out + 36864 + g * 8), "r"(t), "r"(acc) : "memory");
}
