// launch 1 64 n=3
// launch 2 64 n=2
// griddepcontrol, prefetch, discard, fences of proxies, isspacep, createpolicy with loads by policy, all beside shared accesses.
extern "C" __global__ void k9778(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned long long policy; unsigned v, yes;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    acc += s[(t * 2) & 1023];
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(src + t * 3), "l"(policy));
    acc += s[v & 1023];
    asm volatile("prefetch.global.L2 [%0];\n prefetchu.L1 [%0];" :: "l"(src + t) : "memory");
    s[(t * 8) & 1023] = n;
    asm volatile("fence.proxy.async;\n fence.acq_rel.cluster;\n membar.cta;" ::: "memory");
    __syncthreads();
    acc += s[(s[(t * 16) & 1023] * l) & 1023];
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"((l & 1) ? (const unsigned*)s : src));
    acc += s[yes * l * 4];
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("pmevent 1;" ::: "memory");
    acc += s[(t * 4) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
