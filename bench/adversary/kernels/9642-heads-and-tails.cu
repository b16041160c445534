// launch 1 64 n=3
// launch 1 50 n=7
// launch 2 32 n=250
// Copies with a head up to 16 bytes, vectors, and a tail; bytes at any place; blocks that take shares that are not multiples.
extern "C" __global__ void k9642(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, b = blockIdx.x, T = blockDim.x; const unsigned char* from = (const unsigned char*)src + n; unsigned char* to = (unsigned char*)out + n; unsigned size = 1500 + n * 3;
    unsigned head = (16 - ((unsigned)(unsigned long long)from & 15)) & 15, body = (size - head) / 16, tail = size - head - body * 16;
    if (t < head) to[t] = from[t];
    for (unsigned i = t; i < body; i += T) ((uint4*)(to + head))[i] = ((const uint4*)(from + head))[i];
    if (t < tail) to[head + body * 16 + t] = from[head + body * 16 + t];
    unsigned share = (size + gridDim.x) / (gridDim.x + 1) | 1, begin = b * share, acc = 0;
    for (unsigned i = begin + t; i < begin + share; i += T) acc += from[i];
    for (unsigned i = begin / 4 + t; i < (begin + share) / 4; i += T) acc += src[i];
    const unsigned short* h = (const unsigned short*)((unsigned long long)from & ~1ull); for (unsigned i = t; i < 100; i += T) acc += h[i * 3];
    out[8192 + b * T + t] = acc;
}
