// launch 2 64 n=1 cluster=2
// launch 4 33 n=2 cluster=4
// launch 2 32 n=0 cluster=2
// Generic accesses that go to the own, to another block's shared memory or to global memory, by block, by warp and by lane.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ __noinline__ unsigned get(const unsigned* p) { return *p; }
__device__ __noinline__ void put(unsigned* p, unsigned v) { *p = v; }
__device__ __noinline__ unsigned add(unsigned* p, unsigned v) { return atomicAdd(p, v); }
extern "C" __global__ void k9636(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[512]; cg::cluster_group c = cg::this_cluster(); unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, r = c.block_rank(), acc = 0;
    for (unsigned k = t; k < 512; k += blockDim.x) s[k] = k + r; c.sync();
    unsigned* far = c.map_shared_rank(s, (r + n) % c.num_blocks());
    acc += get(far + t * 3) + get(t & 1 ? far + t : src + t * 2) + get(r ? far + t : src + g) + get(src + g * 5);
    put(t & 3 ? out + g * 2 : far + 300 + t, acc); put(r == 1 ? s + t : out + 1024 + g, acc); acc += add(t < 16 ? far + 200 + t : out + 4096 + (t & 7), 1); add(out + 5000 + g, 1);
    c.sync(); out[8192 + g] = acc + s[t];
}
