// launch 1 64 n=5
// launch 1 30 n=11
// launch 2 32 n=2
// Differences of pointers as indices, pointers rounded up and down as integers, tags in low bits, a head before aligned vectors.
extern "C" __global__ void k9626(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; const unsigned *p = src + g * 3 + n, *q = src + g;
    acc += src[p - q] + src[(p - src) / 2] + src[((const char*)p - (const char*)q) >> 3] + *(q + (p - q) * 2);
    const uint4* up = (const uint4*)(((unsigned long long)(src + g * 5 + n) + 15) & ~15ull); acc += up->x;
    const uint2* down = (const uint2*)((unsigned long long)(src + g * 9 + n) & ~7ull); acc += down->y;
    const unsigned* line = (const unsigned*)((unsigned long long)(src + g * 13 + n) & ~127ull); acc += line[t & 31];
    unsigned long long tagged = (unsigned long long)(src + g * 2) | (t & 3); acc += *(const unsigned*)(tagged & ~3ull) * (unsigned)(tagged & 3);
    const unsigned* from = src + n; unsigned head = (unsigned)(-(long long)from & 15) / 4;
    if (t < head) acc += from[t];
    uint4 v = ((const uint4*)(from + head))[g]; acc += v.x ^ v.z; out[4096 + (unsigned)(p - q)] = acc;
    unsigned* o = (unsigned*)(((unsigned long long)(out + n) + 127) / 128 * 128); o[g * 2] = acc; 
    ((unsigned char*)out)[40000 + (unsigned)((unsigned long long)p & 31) + t * 32] = (unsigned char)acc;
    out[8192 + g] = acc;
}
