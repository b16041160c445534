// launch 2 48 n=12 cluster=2
// launch 1 10x9 n=1001
// launch 4 33 n=6 cluster=2
// affine recurrences mod 2^k per thread: jump-ahead by the flat index through repeated squaring, trips until a residue shows, histogram atomics at the upper bits, an 8-bit recurrence in an unsigned char, seed from the rank in the cluster
extern "C" __global__ void k10059(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned hist[128];
    __shared__ int low[64];
    __shared__ unsigned char perm[256];
    __shared__ double dbl[64];
    const unsigned tid = threadIdx.x + blockDim.x * threadIdx.y;
    const unsigned nt = blockDim.x * blockDim.y;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (unsigned i = tid; i < 256; i += nt) perm[i] = (unsigned char)((i * 77u + 19u) & 255u);
    for (unsigned i = tid; i < 128; i += nt) hist[i] = 0;
    for (unsigned i = tid; i < 64; i += nt) { low[i] = 1 << 30; dbl[i] = i; }
    __syncthreads();
    // x_{tid}: jump ahead tid steps of x -> a x + c
    unsigned x = n * 2654435761u + rank * 40503u, a = 1664525u, c = 1013904223u;
    for (unsigned j = tid; j; j >>= 1) {
        if (j & 1) x = a * x + c;
        c *= a + 1;
        a *= a;
    }
    unsigned acc = 0;
    atomicAdd(&hist[x >> 25], 1u);
    // full period mod 256: every residue mod 16 comes within 16 steps
    unsigned y = (tid * 13u + rank) & 255u;
    const unsigned want = (tid ^ n) & 15u;
    int steps = 0;
    while ((y & 15u) != want) {
        y = (y * 5u + 3u) & 255u;
        acc += perm[y];
        ++steps;
    }
    atomicMin(&low[y >> 2], steps);
    // a chain through a table in shared memory that nobody changes any more
    unsigned char z = (unsigned char)(tid + n);
    for (int i = 0; i < 9; ++i) {
        z = perm[z];
        z = (unsigned char)(z * 9 + 7);
        dbl[z & 63] = (double)i;
    }
    for (int i = 0; i < 16; ++i) {
        x = x * 1664525u + 1013904223u;
        if ((x >> 28) < 11) atomicXor(&hist[(x >> 20) & 127u], x);       // rejection: other lanes each trip
        else acc += (unsigned)dbl[x & 63u];                              // weak low bits: short cycles
        if ((int)(x ^ (x << 3)) < 0) acc += atomicExch(&hist[(x >> 9) % 100u], acc) & 1u;
    }
    if (steps & 1) atomicMax(&low[(steps * 7 + (int)(x >> 30)) & 63], (int)tid);
    out[(blockIdx.x * nt + tid) & 4095] = acc + src[tid & 4095];
}
