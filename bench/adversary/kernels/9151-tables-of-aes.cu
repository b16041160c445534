// launch 1 32 n=2
// launch 1 64 n=3
// launch 2 48 n=1
// AES: the S-box built in shared memory from inverses in the field, a T-table with eight replicas, rounds by bytes and rotations.
__device__ __forceinline__ unsigned twice(unsigned v) { return (v << 1 ^ (v & 0x80 ? 0x1b : 0)) & 255; }
extern "C" __global__ void k9151(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char box[256], logs[256], powers[256];
    __shared__ unsigned table[256 * 8], keys[4 * 5];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0;
    if (t == 0) {
        unsigned v = 1;
        for (unsigned k = 0; k < 255; k++) { powers[k] = (unsigned char)v; logs[v] = (unsigned char)k; v ^= twice(v); }
        logs[0] = 0; powers[255] = 1;
    }
    if (t < 20) keys[t] = src[t * 31] * 0x01000193u;
    __syncthreads();
    for (unsigned k = t; k < 256; k += size) {
        unsigned v = k ? powers[255 - logs[k]] : 0;
        box[k] = (unsigned char)(v ^ (v << 1 | v >> 7) ^ (v << 2 | v >> 6) ^ (v << 3 | v >> 5) ^ (v << 4 | v >> 4) ^ 0x63);
    }
    __syncthreads();
    for (unsigned k = t; k < 2048; k += size) {
        unsigned b = box[k >> 3], d = twice(b);
        table[k] = d | b << 8 | b << 16 | (d ^ b) << 24;
    }
    __syncthreads();
    unsigned a[4], e[4], copy = t & 7;
    for (unsigned k = 0; k < 4; k++) a[k] = src[(t * 4 + k) & 2047] * 0x01010101u ^ keys[k];
    for (unsigned round = 1; round <= n; round++) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned p = table[(a[k] & 255) * 8 + copy], q = table[(a[(k + 1) & 3] >> 8 & 255) * 8 + copy];
            unsigned r = table[__byte_perm(a[(k + 2) & 3], 0, 0x4442) << 3 | copy], z = table[(a[(k + 3) & 3] >> 24) * 8 + copy];
            e[k] = p ^ __funnelshift_l(q, q, 8) ^ __byte_perm(r, r, 0x1032) ^ __funnelshift_r(z, z, 8) ^ keys[round * 4 + k];
        }
        for (unsigned k = 0; k < 4; k++) a[k] = e[k];
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) acc += box[a[k] & 255] | box[a[(k + 1) & 3] >> 8 & 255] << 8 | box[a[(k + 2) & 3] >> 16 & 255] << 16 | (unsigned)box[a[(k + 3) & 3] >> 24] << 24;
    __syncthreads();
    table[acc >> 21] = t;
    acc ^= logs[acc & 255] + powers[acc >> 8 & 255];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
