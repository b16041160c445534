// launch 1 64 n=3
// launch 1 27 n=6
// launch 2 32 n=1
// Lanes on one address: by pairs, triples, quarters, squares modulo, the whole warp; loads, stores and atomics.
extern "C" __global__ void k9606(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    acc += src[g / 2] + src[g / 3] + src[g & 7] + src[n] + src[t * t & 63] + src[(g >> 4) * 37] + src[g % 5 * 8];
    uint4 v = ((const uint4*)src)[g / 5]; uint2 w = ((const uint2*)src)[t & 1 ? 300 : g]; acc += v.x + w.y;
    acc += ((const unsigned char*)src)[g / 7 * 5] + ((const unsigned short*)src)[(t & 3) * 17];
    out[g & 3] = acc; out[64 + g / 3 * 9] = acc; ((uint4*)out)[64 + (t & 8 ? 3 : t)] = v;
    ((unsigned char*)out)[2048 + g / 9] = (unsigned char)acc;
    atomicAdd(&out[1024 + g / 6], acc); atomicMax(&out[1100 + (t & 1)], t); acc += atomicExch(&out[1200 + g % 3 * 40], t);
    out[2000 + g] = acc;
}
