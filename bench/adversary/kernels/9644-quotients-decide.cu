// launch 1 64 n=5
// launch 2 45 n=12
// launch 1 96 n=32
// launch 2 32 n=100
// Index / width and index % width by constants and parameters, signed and unsigned, nested, to rows, channels and pixels.
extern "C" __global__ void k9644(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; int i = (int)g, w = (int)n, s = i - 40;
    acc += src[g / n] + src[g % n] + src[g % n * 32 + g / n] + src[g / n * 33 + g % n] + src[g / 7 * 16 + g % 7] + src[g % 24 * 24];
    acc += src[2048 + s / w] + src[2048 + s % w] + src[2048 + s / w * 8 + s % w] + src[i / w % 3 * 100 + i / w / 3 * 9 + i % w] + src[(i + w - 1) / w * 4];
    acc += ((const uint2*)src)[g % n].x + ((const uint4*)src)[g / n].y + ((const unsigned char*)src)[g % n * 13 + g / n * 100];
    out[g % n * 40 % 4096 + g / n] = acc; out[4096 + g / n * n + (n - 1 - g % n)] = acc; ((unsigned short*)out)[16384 + i % w * 7 + i / w] = (unsigned short)acc;
    for (unsigned k = g; k < g + 300; k += 100) acc += src[k / n % 16 * 64 + k % n];
    out[12288 + g] = acc;
}
