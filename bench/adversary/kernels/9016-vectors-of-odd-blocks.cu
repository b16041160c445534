// launch 1 1 n=1
// launch 3 33 n=2
// launch 1 1023 n=3
// launch 2 16 n=5
// Vectors in partial warps, in some lanes, with inactive pairs of lanes, at offsets that depend on a parameter.
extern "C" __global__ void k9016(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(16) unsigned s[8192];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 8192; k += blockDim.x) s[k] = k;
    __syncthreads();
    uint4 v = ((uint4*)s)[t];
    acc += v.x ^ v.w;
    uint2 u = ((uint2*)s)[t * 3 & 4095];
    acc += u.x ^ u.y;
    if (t % 3) { v = ((uint4*)s)[(t * 5 + n) & 2047]; acc += v.y ^ v.z; }
    if ((t & 5) != 4) ((uint2*)s)[(t + n) & 4095] = u;
    if (t + 1 < blockDim.x) { double d = ((double*)s)[(t ^ 1) & 4095]; acc += __double2loint(d) ^ __double2hiint(d); }
    ((uint4*)s)[(t >> 1) + 1024] = v;
    if (!(t & 2)) { v = ((uint4*)s)[(t >> 2) & 2047]; acc += v.x + v.y + v.z + v.w; }
    if (t >= n * 8) { ushort4 h = ((ushort4*)s)[(t * 7) & 4095]; acc += h.x + h.w; }
    unsigned char b = ((unsigned char*)s)[(t * 5) & 32767]; acc += b;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
