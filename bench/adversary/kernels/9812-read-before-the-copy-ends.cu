// launch 1 64 n=3
// launch 1 32 n=5
// What cp.async writes is read before a wait, after a wait for an older group only, and by other threads without a barrier.
extern "C" __global__ void k9812(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(16) unsigned a[3][64 * 4];
    for (unsigned i = t; i < 3 * 256; i += T) (&a[0][0])[i] = i & 31;
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(a);
    for (unsigned k = 0; k < 3; k++) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n cp.async.commit_group;" :: "r"(at + k * 1024 + t * 16), "l"(src + k * 512 + t * 4) : "memory");
    unsigned early = *(volatile unsigned*)&a[0][t * 4];
    acc += s[early & 1023];
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    acc += s[(a[0][t * 4 + 1] * 2) & 1023] + s[(a[1][t * 4]) & 1023] + s[(*(volatile unsigned*)&a[2][t * 4] * 4) & 1023] + s[(*(volatile unsigned*)&a[1][(t ^ 1) * 4] * 8) & 1023];
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    unsigned other = *(volatile unsigned*)&a[2][(t ^ 32) % T * 4];
    acc += s[(other * n) & 1023];
    __syncthreads();
    acc += s[(a[2][(t * 5) % (T * 4)] * 16) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
