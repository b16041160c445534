// launch 2x4x2 5x7 n=9 cluster=1x2x1
// launch 8 64 n=21 cluster=4x1x1
// launch 4x2x3 33x3 n=26 cluster=2x2x1
// launch 3x2 1x45 n=7 cluster=1x2x1
// Clusters of several shapes split K: %cluster_ctarank decides slices of unlike lengths, pitches and who sums what;
// clusters take tiles in strides, and words that neighbours wrote are addresses in the block's own memory.
__device__ __forceinline__ unsigned cluster_rank() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned cluster_size() { unsigned r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned rank_y() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(r)); return r; }
__device__ __forceinline__ void cluster_meet() { asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ __forceinline__ unsigned* far(unsigned* p, unsigned rank) { unsigned long long r; asm volatile("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank)); return (unsigned*)r; }

struct Arena {
    unsigned a[24 * 13];
    unsigned b[8 * 24];
    unsigned part[512];
    unsigned table[256];
    unsigned mail[512];
};

extern "C" __global__ void k9906(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ Arena arena;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const unsigned rank = cluster_rank(), size = cluster_size();
    const unsigned lda = 9 + rank, ldb = 21 + rank_y() * 3;
    for (unsigned i = t; i < 24 * 13; i += nt) arena.a[i] = i;
    for (unsigned i = t; i < 8 * 24; i += nt) arena.b[i] = i * 2;
    for (unsigned i = t; i < 512; i += nt) arena.mail[i] = i;
    for (unsigned i = t; i < 256; i += nt) arena.table[i] = i * (rank + 1) + blockIdx.x;
    cluster_meet();
    unsigned acc = 0;

    // Every block of a cluster has the same z and the same number of tiles, so all of them meet equally often.
    const unsigned tiles = n / 5 + 1 + blockIdx.z;
    for (unsigned tile = blockIdx.z; tile < tiles; tile += gridDim.z + 1) {
        const unsigned depth_of_all = n + tile, lo = rank * depth_of_all / size, hi = (rank + 1) * depth_of_all / size;
        unsigned sum = 0;
        for (unsigned k0 = lo; k0 < hi; k0 += 8) {
            const unsigned depth = hi - k0 < 8 ? hi - k0 : 8;
            for (unsigned i = t; i < 24 * depth; i += nt)
                arena.a[i / depth * lda + i % depth] = src[(i + k0 * 24 + bid) & 65535];
            for (unsigned i = t; i < 20 * depth; i += nt)
                arena.b[i % depth * ldb + i / depth] = i * (tile + 1) + k0;
            __syncthreads();
            for (unsigned k = 0; k < depth; ++k) {
                const unsigned right = arena.b[k * ldb + t / 24 % 20];
                sum += arena.a[t % 24 * lda + k] * right;
                if ((right & 3) == 1) sum ^= arena.table[(right * 2) & 255];
            }
            __syncthreads();
        }
        arena.part[t] = sum;
        const unsigned next = (rank + 1) % size;
        far(arena.mail, next)[t * (rank & 1 ? 1 : 2) & 511] = t * (rank + 2) + tile;
        cluster_meet();

        // Each rank sums its share of the partial results; the last share is the longest.
        const unsigned share = nt / size, begin = rank * share, end = rank + 1 == size ? nt : begin + share;
        for (unsigned i = begin + t; i < end; i += nt) {
            unsigned total = arena.part[i];
            for (unsigned q = 1; q < size; ++q) total += far(arena.part, (rank + q) % size)[i];
            acc += total;
        }
        const unsigned word = far(arena.table, (rank + 1 + tile) % size)[(t * 3) & 255];
        acc += arena.table[(word * 4) & 255];
        acc += arena.a[word % (24 * lda)];
        const unsigned letter = arena.mail[(t * (rank & 1 ? 2 : 1)) & 511];
        acc += arena.b[letter * (size - 1) % 160] + arena.table[(letter * 8 + rank) & 255];
        cluster_meet();
    }

    // Triangular: only blocks on and above the diagonal of their own cluster's rank go on.
    if (blockIdx.x + rank >= blockIdx.y) {
        for (unsigned k = rank; k < 4 + bid % size; k += 2)
            acc += arena.mail[(t * (k + 1)) & 511] + arena.table[(t * 32 >> k) & 255];
        atomicAdd(&arena.part[(t * (rank + 1)) % nt], bid + blocks);
    }
    __syncthreads();
    acc += arena.part[nt - 1 - t];
    cluster_meet();
    out[(bid * nt + t) & 65535] = acc;
}
