// launch 1 128 n=3
// launch 2 128 n=5
// wgmma with descriptors of swizzled tiles; exact products in registers and then in shared memory decide what is read.
extern "C" __global__ void k9791(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(1024) unsigned short A[64 * 64], B[8 * 64];
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i;
    for (unsigned i = t; i < 64 * 64; i += T) A[i] = (i & 63) == (i >> 6) ? 0x3c00 : 0;
    for (unsigned i = t; i < 8 * 64; i += T) B[i] = 0x3c00;
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
    unsigned a = (unsigned)__cvta_generic_to_shared(A), b = (unsigned)__cvta_generic_to_shared(B);
    unsigned long long da = (unsigned long long)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62, db = (unsigned long long)(b >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (unsigned k = 0; k < n; k++) {
        asm volatile("wgmma.fence.sync.aligned;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;"
            : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(da + (k & 3) * 2), "l"(db + (k & 3) * 2) : "memory");
        acc += s[(l * (k + 2)) & 1023];
    }
    acc += s[(unsigned)d0 & 1023] + s[((unsigned)d3 * 8 + l) & 1023];
    s[t * 2] = (unsigned)d1; __syncthreads();
    acc += s[(s[t ^ 2] & 15) * l];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
