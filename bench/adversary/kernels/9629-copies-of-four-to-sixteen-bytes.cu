// launch 1 64 n=4
// launch 1 40 n=12
// launch 2 32 n=0
// launch 1 64 n=16
// cp.async of 4, 8 and 16 bytes, ca and cg, with source sizes, predicates, prefetch sizes, by lane, from strided sources.
extern "C" __global__ void k9629(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned s[4096]; unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, b = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(b + t * 4), "l"(src + g * 3));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(b + 512 + t * 8), "l"(src + g * 10));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(b + 1024 + t * 16), "l"(src + (g ^ 3) * 4));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(b + 2048 + t * 16), "l"(src + g * 12));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" :: "r"(b + 4096 + t * 4), "l"(src + g / 2), "r"(t & 3 ? 4u : 0u));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(b + 5120 + t * 16), "l"(src + g * 4), "r"(n));
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" :: "r"(b + 6144 + t * 16), "l"(src + g * 8), "r"(t % 3 * 8));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(b + 8192 + t * 16), "l"(src + g * 2), "r"(t < 20 ? 8u : 4u));
    if (t & 2) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(b + 10240 + t * 16), "l"(src + g * 4));
    if (t < n) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(b + 12288 + t * 4), "l"(src + g * 9));
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 16, p; }" :: "r"(b + 13312 + t * 16), "l"(src + g * 4), "r"(t & 1));
    for (unsigned i = 0; i < 2; i++) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(b + 14336 + ((t * 16 + i * 1024) & 2047)), "l"(src + i * 256 + g * 4));
    asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads();
    out[g] = s[t] + s[t * 5 & 1023] + s[1024 + t];
}
