// launch 1 32 n=3
// launch 1 64 n=5
// Exact products of small integers on tensor cores (int8, bf16, f64, tf32) whose fragments become indices.
extern "C" __global__ void k9738(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    int c0 = 0, c1 = 0, c2 = 0, c3 = 0; float f0, f1, f2, f3; double g0, g1;
    unsigned a = 0x01010101u * (l / 4 & 3), b = 0x01020301u;
    asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3) : "r"(a), "r"(b), "r"(n * 0x010001u));
    acc += s[(c0 * 4 + l) & 1023] + s[(c1 & 1023)] + s[(c3 * 32) & 1023];
    unsigned h = 0x3f803f80u, z = (l & 3) == 1 ? 0x40004000u : 0;
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=f"(f0), "=f"(f1), "=f"(f2), "=f"(f3) : "r"(h), "r"(z), "r"(z | h), "f"((float)l));
    acc += s[(unsigned)f0 & 1023] + s[(unsigned)f3 * 8 & 1023];
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};" : "=d"(g0), "=d"(g1) : "d"((double)(l & 3)), "d"((double)(l >> 2)), "d"(1.0), "d"((double)n));
    acc += s[(unsigned)g0 & 1023] + s[(unsigned)g1 * 3 & 1023];
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=f"(f0), "=f"(f1), "=f"(f2), "=f"(f3) : "r"(__float_as_uint(2.f)), "r"(__float_as_uint((float)(l >> 2))), "r"(__float_as_uint(1.f)), "f"(0.f));
    acc += s[((unsigned)f2 * 2 + (unsigned)f1) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
