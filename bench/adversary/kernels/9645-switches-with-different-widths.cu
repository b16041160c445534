// launch 1 64 n=1
// launch 1 45 n=2
// launch 2 32 n=3
// A switch by lane whose cases access one, two, four, eight and sixteen bytes; by warp; falling through; inside a loop.
extern "C" __global__ void k9645(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    for (unsigned k = 0; k < 3; k++) {
        switch ((t + k * n) % 6) {
        case 0: acc += ((const unsigned char*)src)[g * 3 + k]; break;
        case 1: acc += ((const unsigned short*)src)[g * 5 + k]; [[fallthrough]];
        case 2: acc += src[g * 7 + k]; break;
        case 3: { uint2 v = ((const uint2*)src)[g + k]; acc += v.x * v.y; break; }
        case 4: { uint4 v = ((const uint4*)src)[g ^ k]; acc += v.x * v.w; out[2048 + g] = acc; } [[fallthrough]];
        default: ((uint2*)out)[k * 64 + g] = make_uint2(acc, k);
        }
        switch (t >> 5) { case 0: out[4096 + t * 2 + k] = acc; break; case 1: ((unsigned char*)out)[20000 + t + k] = (unsigned char)acc; }
    }
    out[8192 + g] = acc;
}
