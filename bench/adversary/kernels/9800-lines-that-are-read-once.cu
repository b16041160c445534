// launch 1 64 n=3
// launch 2 32 n=5
// Reductions in bulk: cp.reduce.async.bulk to global memory and stores of bulk groups that reads wait for; LUTs of halves.
extern "C" __global__ void k9800(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ __align__(128) unsigned a[64], b[64];
    for (unsigned i = t; i < 64; i += T) { a[i] = i; b[i] = n; }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\n cp.async.bulk.commit_group;" :: "l"(out + 1024), "r"((unsigned)__cvta_generic_to_shared(a)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;\n cp.async.bulk.commit_group;" :: "l"(out + 2048), "r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        acc += s[(a[3] * 5) & 1023];
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        __threadfence();
    }
    __syncthreads();
    unsigned v = *(volatile unsigned*)(out + 1024 + t), u = *(volatile unsigned*)(out + 2048 + (t & 31));
    acc += s[(v * 8) & 1023] + s[(u & 31) * 32] + s[a[(t * 3) & 63] * 4] + s[b[t & 63] * l];
    out[t] = acc;
}
