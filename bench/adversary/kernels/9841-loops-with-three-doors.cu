// launch 1 48 n=3
// launch 3 5x7x3 n=10
// launch 2 64 n=21
// launch 1 16x8x2 n=0
// Irreducible loops: three entries by lane, an entry by warp, a jump into the body of an inner loop, lanes that end
// from the midst of it, fuel that differs by lane; no loop has a header that dominates its body.
extern "C" __global__ void k9841(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[2048];
    __shared__ unsigned short h[2048];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned T = blockDim.x * blockDim.y * blockDim.z, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 2048; i += T) { s[i] = i * 5 & 2047; h[i] = (unsigned short)(i ^ 77); }
    __syncthreads();
    unsigned x = t * 3 + n, y = 7 + blockIdx.x, fuel = 20 + (t & 7);
    switch (l % 3) {
        case 0: goto doorA;
        case 1: goto doorB;
        default: goto doorC;
    }
doorA:
    acc += s[(x * 2) & 2047];
    x += l + 1;
    if (--fuel == 0) goto over;
    if (x & 4) goto doorC;
doorB:
    acc += s[(x * 8 + y) & 2047];
    y = x ^ (y << 1);
    if (--fuel == 0) goto over;
    if ((x + y) & 1) goto doorA;
doorC:
    acc ^= h[(y * 4 + l) & 2047];
    x = x * 5 + 1;
    y -= l;
    if (--fuel == 0) goto late;
    if (y & 2) goto doorB;
    goto doorA;
late:
    acc += s[(y * 16 + 1) & 2047];
over:
    acc += s[(x + y * l) & 2047];
    __syncwarp();
    // a two-door loop whose door is one for the whole warp, and whose trips are one for the whole warp
    unsigned p = n + w, q = l, turns = 5 + w * 2;
    if ((w + n) & 1) goto second;
first:
    s[(q * 4 + p) & 2047] = l;
    p = p * 3 + 1;
second:
    acc += h[(q * (p & 15)) & 2047];
    q = (q << 1 | q >> 4) & 31;
    if (--turns) { if (turns % 3 == 0) goto second; goto first; }
    __syncwarp();
    // into the inner body from outside of both loops; out of it by leaving
    unsigned i = 0, j = l & 3, stop = 3 + (t * 5 + n) % 4, z = l;
    if (l > 11) goto inside;
    for (; i < stop; ++i) {
        j = i & 1;
        while (j < 5) {
            z += j * 2 + 1;
inside:
            h[(z * 8 + t) & 2047] = (unsigned short)z;
            acc += s[(z * 32 + j) & 2047] & 1;
            j += 1 + (z & 1);
            if (z > 90 + l) { out[(blockIdx.x * T + t) & 1023] = acc; return; }
        }
        z ^= i;
        acc += (unsigned)((volatile unsigned*)s)[(z + (i << 3)) & 2047] >> 5;
    }
    acc += s[(z * 2 + i) & 2047];
    out[(blockIdx.x * T + t) & 1023] = acc;
}
