// launch 3 64 n=3
// launch 2x2 33 n=5
// Special registers: lane masks, sizes of shared memory, ids of warps and multiprocessors (of which little is known).
#define R(x, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(x))
extern "C" __global__ void k9761(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    unsigned x, lt, le, ge, gt, eq;
    R(lt, "lanemask_lt"); R(le, "lanemask_le"); R(ge, "lanemask_ge"); R(gt, "lanemask_gt"); R(eq, "lanemask_eq");
    acc += s[(__popc(lt) * n) & 1023] + s[__popc(le & 0x55555555) * 32 & 1023] + s[(31 - __clz(gt | 1)) * l & 1023] + s[(eq >> 3) & 1023] + s[__popc(ge) * 8];
    R(x, "total_smem_size"); acc += s[(x / 4 + t) & 1023];
    R(x, "dynamic_smem_size"); acc += s[(x * 33 + t * 2) & 1023];
    R(x, "nwarpid"); acc += s[(x * 0 + t * 4) & 1023];
    R(x, "smid"); acc += s[(x * 32 + l) & 1023] + s[(x & 1) * 4 + t];
    R(x, "warpid"); acc += s[((x & 3) * 32 + l * 32) & 1023];
    R(x, "nsmid"); acc += s[(x > 1000 ? l * 16 : l * 2)];
    R(x, "clock"); acc += s[((x & 7) * 128 + l * 3) & 1023];
    R(x, "nctaid.y"); acc += s[(x * l * 8) & 1023];
    unsigned long long g; asm volatile("mov.u64 %0, %%gridid;" : "=l"(g)); acc += s[((unsigned)g & 3) + t];
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g)); acc += s[g ? t : t * 32 & 1023];
    if ((unsigned)clock() == 0xdeadbeef) acc += s[(t * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
