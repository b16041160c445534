// launch 1 64 n=2
// launch 1 18 n=5
// launch 2 32 n=1
// volatile, relaxed, acquire, release at block, device and system scope; references of libcu++; vectors of volatile.
#include <cuda/atomic>
extern "C" __global__ void k9615(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; volatile unsigned* v = out + 4096; volatile unsigned char* c = (unsigned char*)out + 2;
    acc += v[g * 3] + v[g / 4]; v[1000 + g * n] = acc; c[g * 5] = (unsigned char)acc; acc += c[g + 300];
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> a(out[2000 + g * 2]); acc += a.load(cuda::memory_order_acquire); a.store(acc, cuda::memory_order_release);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> b(out[2500 + (g ^ 7)]); acc += b.load(cuda::memory_order_relaxed); b.store(t, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> d(((unsigned long long*)out)[1500 + g * 4 / 3]); acc += (unsigned)d.load(); d.fetch_add(3, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned> e(out[3800 + t / 2]); acc += e.fetch_max(t, cuda::memory_order_acq_rel); 
    unsigned x, y; asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(out + g * 6)); acc += x ^ y;
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(out + 8192 + g * 12), "r"(acc) : "memory");
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, _, _}, [%2];" : "=r"(x), "=r"(y) : "l"(out + 12000 + (t & 15) * 4)); acc += x ^ y;
    asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" :: "l"(out + 14000 + g), "r"(acc) : "memory");
}
