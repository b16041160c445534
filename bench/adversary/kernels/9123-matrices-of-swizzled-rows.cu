// launch 1 32 n=1
// launch 1 64 n=2
// launch 2 128 n=3
// The main loop of a tensor-core GEMM: cp.async into swizzled rows, ldmatrix of A and of B transposed, three stages modulo.
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k9123(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) unsigned a[3][32 * 16], b[3][32 * 16];  // 32 rows of 32 halves
    __shared__ float c[32 * 33];
    unsigned t = threadIdx.x, l = t & 31, w = t >> 5, size = blockDim.x, acc = 0;
    auto place = [&](unsigned row, unsigned chunk) { return row * 16 + ((chunk ^ (row >> 1)) & 3) * 4; };
    auto fetch = [&](unsigned tile, unsigned slot) {
        for (unsigned k = t; k < 128; k += size) {
            unsigned row = k >> 2, chunk = k & 3;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(&a[slot][place(row, chunk)])), "l"(src + ((tile * 512 + k * 4) & 2044)) : "memory");
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(at(&b[slot][place(row, chunk)])), "l"(src + ((tile * 256 + k * 4) & 2044)), "r"(row < 30 ? 16 : 4) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0, 0);
    fetch(1, 1);
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    unsigned x0, x1, x2, x3, y0, y1;
    for (unsigned k = 0; k < n; k++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (k + 2 <= n) fetch(k + 2, (k + 2) % 3); else asm volatile("cp.async.commit_group;" ::: "memory");
        const unsigned *pa = a[k % 3], *pb = b[k % 3];
#pragma unroll
        for (unsigned kk = 0; kk < 2; kk++) {
            unsigned row = (w & 1) * 16 + (l & 15), chunk = kk * 2 + (l >> 4);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3) : "r"(at(pa + place(row, chunk))) : "memory");
            row = kk * 16 + (l & 15);
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(y0), "=r"(y1) : "r"(at(pb + place(row, w))) : "memory");
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(y0), "r"(y1));
            acc += a[(k + 1) % 3][(y0 & 255) * 2 & 511];
        }
        __syncthreads();
    }
    unsigned row = (w & 1) * 16 + l / 4, column = (w >> 1) * 8 + (l % 4) * 2;
    c[row * 33 + column] = d[0];
    c[row * 33 + column + 1] = d[1];
    *(float2*)&c[((row + 8) * 32 + column) & 1022] = make_float2(d[2], d[3]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    acc += __float_as_uint(c[(t * 33) % 1056]) + a[n % 3][(x0 & 127) * 4];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
