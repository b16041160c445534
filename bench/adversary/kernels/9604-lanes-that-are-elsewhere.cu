// launch 1 64 n=5
// launch 1 21 n=2
// launch 2 77 n=9
// Partial warps, nested branches by lane, lanes that have returned, loops left by some lanes: the same strides in each.
extern "C" __global__ void k9604(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    if (t % 3 == 0) {
        acc += src[g * 2];
        if (t & 4) acc += src[g * 9 & 2047]; else { acc += ((const uint2*)src)[g].y; out[4000 + g] = acc; }
    } else if (t & 1) {
        for (unsigned k = 0; k < (t & 7); k++) acc += src[(g + k * 8) & 4095];
    } else {
        uint4 v = ((const uint4*)src)[g]; acc += v.x + v.y;
        if (t > n * 4) { out[5000 + g * 3] = acc; return; }
    }
    out[g] = acc;
    if (t >= blockDim.x - n) return;
    for (unsigned k = t; k < 40; k += 7 + (t & 3)) { if (src[k] == t) break; acc += src[512 + k * 4]; }
    if (g == n) out[6000] = acc;
    if (t < n) ((uint2*)out)[3500 + g] = make_uint2(acc, g);
    ((unsigned char*)out)[40000 + g] = (unsigned char)acc;
}
