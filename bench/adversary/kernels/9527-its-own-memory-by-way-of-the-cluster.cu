// launch 2 32 n=1 cluster=2
// launch 3 64 n=4 cluster=3
// launch 2 32 n=2
// Accesses of shared::cluster at the block's own rank, known or computed, and in a launch without clusters; generic ones by cvta.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
#define CLUSTER_SYNC asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")
__device__ __forceinline__ unsigned far(unsigned a, unsigned rank) { unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
extern "C" __global__ void k9527(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned rank, size, x, y;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    __syncthreads();
    unsigned own = far(AT(s), rank), back = far(AT(s), (rank + n * size) % size);
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(own + l * 8) : "memory");
    acc += x;
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(back + l * 16), "r"(l) : "memory");
    unsigned long long g; asm("cvta.shared::cluster.u64 %0, %1;" : "=l"(g) : "l"((unsigned long long)(own + ((l * 12) & 4095))));
    y = *(volatile unsigned*)g; acc += y;
    __syncthreads();
    unsigned r2; asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r2) : "r"(own));
    if (r2 == rank) acc += s[(l * 4) & 1023]; else s[(l * 8) & 1023] = 1;
    acc += s[(x * 2) & 1023] + s[(y * (r2 + 1)) & 1023];
    CLUSTER_SYNC;
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
