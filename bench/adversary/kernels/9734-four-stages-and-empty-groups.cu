// launch 1 64 n=6
// launch 2 32 n=3
// launch 1 96 n=1
// cp.async with four stages: commits of empty groups at the end, waits for all but two, slots by modulo and by compare.
extern "C" __global__ void k9734(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned ring[4][96 * 4];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    unsigned base = (unsigned)__cvta_generic_to_shared(ring), write = 0, read = 0;
#define FETCH(k) { if ((k) < n) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(base + write * 1536 + ((t ^ (t >> 3 & 7)) * 16)), "l"(src + (((k) * T + t) * 4 & 4092)) : "memory"); \
    asm volatile("cp.async.commit_group;" ::: "memory"); if (++write == 4) write = 0; }
    FETCH(0) FETCH(1) FETCH(2)
    for (unsigned k = 0; k < n; k++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        uint4 v = *(uint4*)&ring[read][(t ^ (t >> 3 & 7)) * 4];
        acc += v.x + v.y + ring[read][(v.z & 63) * 4] + ring[k % 4][(t * 5) % (T * 4)];
        FETCH(k + 3)
        read = (read + 1) & 3;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    acc += ring[(n - 1) & 3][(t * 4 + (acc & 0)) % (T * 4)];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
