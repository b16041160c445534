// launch 1 64 n=9
// launch 2 96 n=4
// 128-bit accesses by a given pointer in functions that call each other and themselves; one row conflicts between depths, one within a depth.
__shared__ uint4 s[3 * 448], z[3 * 256];
#define T threadIdx.x
__device__ __noinline__ unsigned down(uint4* p, uint4* r, unsigned x, unsigned d);
__device__ __noinline__ unsigned up(uint4* p, uint4* r, unsigned x, unsigned d) {
    if (d == 0) return x + p[0].w;
    uint4 a = p[33 * d];
    a.x ^= x; a.z += d;
    p[33 * d] = a;
    if ((x & 15) == 3) return a.x & 4095;
    unsigned y = down(p, r, a.x & 1023, d - 1);
    r[d & 7] = make_uint4(y, x, d, y ^ x);
    return y + p[33 * (y % 12)].y;
}
__device__ __noinline__ unsigned down(uint4* p, uint4* r, unsigned x, unsigned d) {
    uint4 b = r[x & 7];
    if (d == 0) return x ^ b.y;
    if (x & 1) {
        unsigned y = up(p, r, x >> 1, d - 1);
        if (y & 2) return y;
        p[33 * d] = make_uint4(b.w, y, x, d);
        return y * 3;
    }
    unsigned y = down(p, r, x + b.x, d >> 1);
    b.x += y;
    r[(d + y) & 7] = b;
    return (y & 8) ? y >> 1 : y + r[d & 7].z;
}

extern "C" __global__ void k10084(unsigned* out, const unsigned* src, unsigned n, float f) {
    const unsigned t = T, lane = t & 31;
    uint4* const p = s + (t >> 5) * 448 + lane;
    uint4* const r = z + (t >> 5) * 256 + 8 * lane;
    for (unsigned k = 0; k < 12; k++) p[33 * k] = make_uint4(src[(t + k * 64) & 4095], k, t, n);
    for (unsigned k = 0; k < 8; k++) r[k] = make_uint4(t, src[(t * 8 + k) & 4095], k, k + 1);
    __syncthreads();
    unsigned v = src[(t * 3 + n) & 4095] + blockIdx.x;
    for (unsigned i = 0; i < n; i++) {
        if (v % 3 == 0) v = up(p, r, v & 2047, 1 + (lane % 6));
        else if (v % 3 == 1) v = down(p, r, v & 2047, 6 - (lane >> 3));
        else v = v * 5 + r[v & 7].x;
        const uint4 a = p[33 * (v % 12)];
        r[lane & 7] = a;
        v += a.x + a.w;
        if (i & 1) __syncwarp();
    }
    __syncthreads();
    const uint4 a = s[33 * (v & 7) + lane];
    out[blockIdx.x * 96 + t] = v + a.x + a.y + a.z + a.w;
}
