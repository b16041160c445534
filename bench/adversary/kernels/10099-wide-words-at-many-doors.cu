// launch 2 64 n=20
// launch 1 96 n=31
// 128-bit and 64-bit accesses in a loop with four doors: seven quads (or 15 pairs) a trip are apart only for lanes of one trip; 8 quads a lane only for lanes of many.
extern "C" __global__ void k10099(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ uint4 quads[3 * 288], wide[3 * 256];
    __shared__ unsigned long long pairs[3 * 600];
    const unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, most = 3 + n % 32;
    uint4* const a = quads + w * 288;
    uint4* const b = wide + w * 256 + 8 * lane;
    volatile unsigned long long* const p = pairs + w * 600;
    const unsigned own = src[(t * 3 + n) & 4095] + blockIdx.x;
    unsigned v = own, k = 0;
    unsigned long long sum = own;
    uint4 x = make_uint4(own, t, n, 7), y = x;
    for (unsigned i = 0; i < 8; i++) { b[i] = make_uint4(i, t, own, i * 3); a[i * 32 + lane] = x; p[i * 32 + lane] = i; }
    __syncthreads();
    switch (own >> 5 & 3) {
    case 0: goto load_quad;
    case 1: goto store_pair;
    case 2: k = lane & 1; goto column;
    }
store_quad:
    a[lane + 7 * k] = x;
    v = v * 69069 + 3;
    if (v & 0x8000) goto column;
load_quad:
    y = a[lane + 7 * (k + 1)];
    x.x += y.w; x.y ^= y.x; x.z += y.y; x.w -= y.z;
    k++;
    if ((v >> 17 & 3) == 1 && k < most) { v ^= v >> 5; goto store_quad; }
    if (k >= most) goto away;
store_pair:
    p[lane + 15 * k] = sum + x.x;
    v = v * 1664525 + 1013904223;
    if (v >> 30 == 0) { k++; goto column_end; }
    sum ^= p[lane + 15 * (k + 2)];
    if (v >> 30 == 1) { k++; if (k < most) goto load_quad; goto away; }
column:
    y = b[k & 7];
    x.x ^= y.x; x.y += y.z; x.z -= y.y; x.w ^= y.w;
    b[(k + 3) & 7] = x;
column_end:
    k++;
    if (k >= most) goto last;
    if ((v >> 22 & 7) == 6) goto store_pair;
    if ((v >> 22 & 7) == 5) goto column;
    if ((v >> 22 & 7) == 4) goto load_quad;
    if ((v >> 22 & 31) != 3) goto store_quad;
last:
    sum += p[lane + 15 * k];
away:
    y = a[lane + 7 * k];
    out[blockIdx.x * 96 + t] = (unsigned)sum + x.x + x.y + x.z + x.w + (y.x ^ y.y ^ y.z ^ y.w);
}
