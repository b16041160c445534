// launch 2 64 n=70
// launch 3 50 n=120
// launch 1 96 n=33
// Threads beyond a bound return, loops left by break and by data, the rest of a row, chains of different lengths.
extern "C" __global__ void k9637(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; if (g >= n) return;
    acc += src[g] + ((const uint2*)src)[g * 2].x; unsigned i = g;
    while (src[i] & 3) { i = (i + 3) & 1023; acc += src[1024 + i]; }
    for (unsigned k = 0; k < 16; k++) { unsigned v = src[k * 64 + t]; if (v % 7 == 2) break; acc += v; if (v & 1) continue; out[2048 + k * 64 + t] = v; }
    if (src[g] > 500) return; out[g] = acc;
    for (unsigned k = g; k < n; k += 17) { if ((k & 7) == 5) { out[4096 + k] = acc; return; } acc += src[k * 2]; }
    do { acc += src[i * 3 & 2047]; i = src[i & 4095]; } while (i > 512 && i != g); ((unsigned char*)out)[40000 + g * 3] = (unsigned char)acc;
    goto end; end: out[8192 + g] = acc;
}
