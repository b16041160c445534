// launch 4x2 32 n=2 cluster=2x2
// launch 4 64 n=5 cluster=2
// launch 4 40 n=1 cluster=4
// barrier.cluster arrive and wait apart, work between that differs by rank and warp; cluster coordinates are strides; loops by rank.
#define ARRIVE asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
extern "C" __global__ void k9241(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k + 5 * blockIdx.x) & 31; }
    __syncthreads();
    unsigned rank, cx, cy, nx, id, here = (unsigned)__cvta_generic_to_shared(q), there;
    asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_ctaid.x; mov.u32 %2, %%cluster_ctaid.y; mov.u32 %3, %%cluster_nctaid.x; mov.u32 %4, %%clusterid.x;" : "=r"(rank), "=r"(cx), "=r"(cy), "=r"(nx), "=r"(id));
    ARRIVE;
    for (unsigned i = 0; i <= rank; i++) acc += s[(l * (cx + 2) + i * 32) & 1023];
    if (cy) s[(l * 4) & 1023] = cy;
    WAIT;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
    for (unsigned i = 0; i < n; i++) {
        unsigned v;
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there + ((l * 4 + i * 128) & 4095)) : "memory");
        ARRIVE;
        if (w == (rank & 1)) { acc += s[(v * l) & 1023]; if (v & 1) s[(l * 8 + i) & 1023] = v; }
        WAIT;
        if ((rank + i) & 1) acc += s[(v * 3 + l) & 1023];
        else { ARRIVE; s[(l * (id + 5)) & 1023] = i; WAIT; }
        if ((rank + i) & 1) { ARRIVE; WAIT; }
    }
    ARRIVE;
    s[(l * (nx + rank * 2)) & 1023] = acc;
    WAIT;
    acc += s[(l * (cx ^ 3)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
