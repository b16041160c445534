// launch 4x2 32 n=1 cluster=2x2
// launch 2x4x2 16x2 n=2 cluster=1x2x2
// launch 6 40 n=3 cluster=3
// Ranks and sizes of clusters in every dimension as pitches, truths and addresses of other blocks' memory.
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
#define CLUSTER_SYNC asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")
__device__ __forceinline__ unsigned far(unsigned a, unsigned rank) { unsigned r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
extern "C" __global__ void k9525(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned rank, size, rx, ry, rz, nx, ny, cx, ncx;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(rx)); asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(ry)); asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(rz));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(nx)); asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(ny)); asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx)); asm("mov.u32 %0, %%nclusterid.x;" : "=r"(ncx));
    __shared__ unsigned box[32];
    if (t < 32) box[t] = rank * 4 + rx + ry * 2 + rz;
    __syncthreads();
    CLUSTER_SYNC;
    acc += s[(l * (rank + 1)) & 1023] + s[(l * (rx + ry * nx + rz * nx * ny)) & 1023];
    if (rank == rx + nx * (ry + ny * rz)) s[(l * 2) & 1023] = 1; else s[(l * 32) & 1023] = 2;
    if (blockIdx.x == cx * nx + rx) acc += s[(l * 4) & 1023]; else acc += s[(l * 16) & 1023];
    acc += s[(l * (ncx + size)) & 1023];
    unsigned to = (rank + n) % size, a;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(a) : "r"(far(AT(box + (l & 7)), to)) : "memory");
    acc += s[(l * a) & 1023];
    if (to == rank) s[(l * 8) & 1023] = a; else s[(l * 5) & 1023] = a;
    CLUSTER_SYNC;
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
