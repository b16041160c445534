// launch 1x2 8x4x2 n=3
// launch 3 5x5x3 n=8
// launch 2x1x2 32x2 n=1
// Addresses converted between windows, lane masks, sizes of types and prefetches: space queries and special registers decide addresses and activity.
template <class T> struct Box { char c; T v; };
#define REG(name) ({ unsigned r; asm volatile("mov.u32 %0, %%" #name ";" : "=r"(r)); r; })
extern "C" __global__ void k9360(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(64) unsigned s[1024];
    __shared__ Box<double> boxes[24];
    unsigned T = blockDim.x * blockDim.y * blockDim.z, t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), acc = 0, own[4] = {t, n, t * n, 7};
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), lane = t % warpSize, warp = t / warpSize, lt, le, gt, laneid;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt)); asm("mov.u32 %0, %%lanemask_le;" : "=r"(le)); asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt)); asm("mov.u32 %0, %%laneid;" : "=r"(laneid));
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 24; k += T) { boxes[k].c = (char)(k * 3); boxes[k].v = (double)(k * n); }
    __syncthreads();
    acc += s[(__popc(lt & (n * 0x11111111u | 0x01010101u)) * 32 + laneid) & 1023];
    acc += s[(gt ^ le) == ~0u ? (le >> 3 & 1023) : lane];
    size_t a = __cvta_generic_to_shared(s + t); unsigned v; asm volatile("ld.shared.u32 %0, [%1+16];" : "=r"(v) : "r"((unsigned)a + (t & 3) * 32) : "memory"); acc += v;
    unsigned* g = (unsigned*)__cvta_shared_to_generic(a ^ (lane & 3) * 16); acc += *g;
    const void* p = t % 3 == 0 ? (const void*)(s + t) : t % 3 == 1 ? (const void*)(own + (t & 3)) : (const void*)(src + t);
    if (__isShared(p)) acc += s[(t * 8) & 1023]; else if (__isLocal(p)) s[(t * 4) & 1023] = acc; else if (__isGlobal(p)) acc += s[(__ldg(src + t) * 2) & 1023];
    acc += *(const unsigned*)p;
    asm volatile("prefetch.global.L1 [%0];" :: "l"(src + t)); asm volatile("prefetch.L2 [%0];" :: "l"(p));
    acc += s[(boxes[t % 24].c * 4 + (unsigned)boxes[(t + block) % 24].v) & 1023];
    unsigned step = sizeof(Box<char>) + sizeof(Box<short>) * 2 + alignof(Box<double>) + sizeof(long long) % 3 + offsetof(Box<float>, v); acc += s[(t * step) & 1023];
    unsigned known = sizeof(p) / sizeof(n) + (sizeof(s) / sizeof(s[0]) == 1024) + (sizeof(Box<char>[3]) == 6); s[(t * known + warp) & 1023] = acc;
    unsigned smem; asm("mov.u32 %0, %%total_smem_size;" : "=r"(smem)); acc += s[(smem / 64 * 2 + t * (smem > 4096 ? 2 : 5)) & 1023];
    unsigned fold = (block * 7 + t) % (gridDim.x * gridDim.y * gridDim.z * T); for (unsigned k = fold; k < 1024; k += gridDim.x * T * 5) acc += s[(k * 3) & 1023];
    out[(block * T + t) & 2047] = acc;
}
