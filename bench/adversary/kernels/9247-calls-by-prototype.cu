// launch 1 32 n=3
// launch 2 64 n=4
// launch 1 39 n=2
// Indirect calls in inline PTX: by prototype and by a list of targets, from a register chosen by a parameter and by lane.
extern "C" __device__ __noinline__ unsigned twice9247(unsigned i, unsigned at) { unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at + (i * 8 & 4092)) : "memory"); return v; }
extern "C" __device__ __noinline__ unsigned eight9247(unsigned i, unsigned at) { unsigned v = i * 3; for (unsigned k = 0; k < (i & 3); k++) asm volatile("st.shared.u32 [%0], %1;" :: "r"(at + ((i * 32 + k * 4) & 4092)), "r"(v) : "memory"); return v; }
extern "C" __device__ __noinline__ unsigned skip9247(unsigned i, unsigned at) { if (i & 4) return i; asm volatile("st.shared.u32 [%0], %1;" :: "r"(at + (i * 16 & 4092)), "r"(i) : "memory"); return i + 1; }
extern "C" __global__ void k9247(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(s), r = 0;
    unsigned (*keep[3])(unsigned, unsigned) = { twice9247, eight9247, skip9247 };
    unsigned long long one = (unsigned long long)keep[n % 3], mine = (unsigned long long)keep[(l >> 2) % 3];
#define CALL(how, r, f, i) asm volatile("{ .param .b32 ret; .param .b32 p0; .param .b32 p1;\n" \
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n" \
        "st.param.b32 [p0], %2; st.param.b32 [p1], %3;\n" \
        "call" how " (ret), %1, (p0, p1), proto;\n" \
        "ld.param.b32 %0, [ret]; }" : "=r"(r) : "l"(f), "r"(i), "r"(at) : "memory")
    CALL(".uni", r, one, l);
    acc += s[((r & 63) * l) & 1023];
    CALL("", r, mine, l * 3);
    acc += r;
    for (unsigned i = 0; i < n; i++) {
        if ((l + i) & 1) { CALL("", r, mine, l + i * 8); acc += r; s[(l * 2 + i * 32) & 1023] = i; }
        mine = (unsigned long long)keep[(l + i) % 3];
    }
    asm volatile("{ .param .b32 ret; .param .b32 p0; .param .b32 p1;\n"
        "many: .calltargets twice9247, skip9247;\n"
        "st.param.b32 [p0], %2; st.param.b32 [p1], %3;\n"
        "call (ret), %1, (p0, p1), many;\n"
        "ld.param.b32 %0, [ret]; }" : "=r"(r) : "l"(l & 8 ? (unsigned long long)keep[0] : (unsigned long long)keep[2]), "r"(l * 5), "r"(at) : "memory");
    acc += r + s[(l * 6) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
