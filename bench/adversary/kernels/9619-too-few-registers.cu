// launch 1 64 n=4
// launch 1 45 n=9
// launch 2 32 n=2
// Many values live at once, in lanes that diverge and loops: with few registers they are spilled.
#define R8(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
extern "C" __global__ void k9619(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    unsigned a[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) a[i] = src[(g + i * 37) & 4095] * (i + 1);
    for (unsigned k = 0; k < n; k++) {
        #pragma unroll
        for (int i = 0; i < 48; i++) a[i] = a[i] * 3 + a[(i + 7) % 48] + k;
        if ((t + k) & 1) {
            #pragma unroll
            for (int i = 0; i < 48; i += 3) a[i] ^= a[47 - i] >> 3;
        }
    }
    double d[12];
    #pragma unroll
    for (int i = 0; i < 12; i++) d[i] = a[i] * 0.25 + a[i + 12];
    if (t % 3 == 1) {
        #pragma unroll
        for (int i = 0; i < 12; i++) d[i] = d[i] * d[11 - i] + i;
    }
    unsigned acc = 0;
    #pragma unroll
    for (int i = 0; i < 48; i++) { acc = acc * 5 + a[i] + (unsigned)d[i % 12]; if (i % 8 == 7) out[g * 8 + i / 8] = acc; }
    out[8192 + g] = acc;
}
