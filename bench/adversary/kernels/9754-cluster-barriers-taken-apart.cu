// launch 4 64 n=2 cluster=2
// launch 3 32 n=1 cluster=3
// barrier.cluster.arrive.relaxed in a branch by rank, wait elsewhere, with remote stores and multicast flags between.
extern "C" __global__ void k9754(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned flag[4];
    unsigned rank, size, at;
    asm volatile("mov.u32 %0, %%cluster_ctarank;\n mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
    if (t < 4) flag[t] = 77;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    acc += s[(t * 2 + rank) & 1023];
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    for (unsigned k = 0; k < n; k++) {
        if (t < size) {
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(&flag[rank])), "r"(t));
            asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(at), "r"(rank * 4 + k + 1) : "memory");
        }
        if (rank & 1) { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); acc += s[(l * 8) & 1023]; }
        else { acc += s[(l * 16) & 1023]; asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
        acc += s[(flag[(rank + 1) % size] * l) & 1023] + s[(flag[t & 3] & 31) * 32];
        asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    }
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
