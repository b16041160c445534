// launch 1 32 n=1
// launch 2 96 n=2
// launch 1 27 n=0
// Instructions that take long or wait, each on one path of a branch, after which lanes reconverge or not.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define WAY(k, ...) if ((l ^ n) & 1) { acc += s[(l * 2 + k) & 1023]; __VA_ARGS__; s[(l * 3 + k) & 1023] = acc; } \
    else { s[(l * 4 + k) & 1023] = acc; acc ^= s[(l * 8 + k) & 1023]; } \
    acc += s[(l * 5 + k) & 1023]; __syncthreads(); acc += s[(l * 6 + k) & 1023];
extern "C" __global__ void k9041(unsigned* out, unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024]; __shared__ __align__(8) unsigned long long bar, late;
    unsigned t = threadIdx.x, l = t & 31, acc = 0, r;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.init.shared.b64 [%1], 1000;" :: "r"(at(&bar)), "r"(at(&late)) : "memory");
    __syncthreads();
    if (t == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at(&bar)) : "memory");
    __syncthreads();
    WAY(0, asm volatile("nanosleep.u32 0;"))
    WAY(1, asm volatile("nanosleep.u32 %0;" :: "r"(l)))
    WAY(2, asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(at(&bar)) : "memory"); acc += r)
    WAY(3, asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(at(&late)) : "memory"); acc += r)
    WAY(4, asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(at(&bar)) : "memory"); acc += r)
    WAY(5, asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0, 100; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(at(&late)) : "memory"); acc += r)
    WAY(6, asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at(&late)) : "memory"))
    WAY(7, asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" :: "r"(at(s + (l * 3 & 1023))), "l"(src + t) : "memory"))
    WAY(8, asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"))
    WAY(9, asm volatile("griddepcontrol.wait;" ::: "memory"))
    WAY(10, asm volatile("griddepcontrol.launch_dependents;" ::: "memory"))
    WAY(11, asm volatile("pmevent 3;"))
    WAY(12, asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&late)) : "memory"))
    if (__popc(acc) == 33) __nanosleep(5);
    __nanosleep(t);
    s[(l * 7) & 1023] = acc;
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 7; @p nanosleep.u32 20; }" :: "r"(l));
    acc += s[(l * 13) & 1023];
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 5; @p nanosleep.u32 200; }" :: "r"(l));
    acc += s[(l * 14) & 1023]; s[(l * 15) & 1023] = acc;
    __syncthreads();
    for (unsigned i = 0; i < 3; i++) { if ((l + i) % 3 == 0) { acc += s[(l * 9 + i) & 1023]; continue; } if (i == 1) __nanosleep(9); s[(l * 10 + i) & 1023] = i; }
    acc += s[(l * 12) & 1023];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
