// launch 2 64 n=2
// launch 2 64 n=1
// launch 1 45 n=2
// A number chosen by one truth value goes through every kind of operation: two results each.
extern "C" __global__ void k9403(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[4096];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 4096; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned two = n == 2, pitch = two ? 33 : 32, any = __syncthreads_or(src[t] > 40u * n), wide = any ? 7 : 8;
    acc += s[(t * pitch) & 4095] + s[(t * pitch / 3) & 4095] + s[(t * wide) % 1000] + s[(t ^ (two ? 31 : 4)) * 4];
    acc += s[min(t * (two ? 16u : 3u), 512u)] + s[__brev(t * wide) >> 20] + s[(t << (any ? 1 : 3)) & 4095];
    acc += s[(unsigned)((float)t * (two ? 2.f : 32.f)) & 4095] + s[__byte_perm(t * pitch, t, two ? 0x4410 : 0x4501) & 4095];
    if (wide == 7) s[(t * pitch) & 4095] = t;
    if (pitch == 33 && wide == 8) s[t * 2] = t;
    if (any == two) acc += s[t * 8 & 4095];
    unsigned each = (t & 1) ? pitch : wide;
    acc += s[(t * each) & 4095];
    if (each > 8) acc += s[t * 16 & 4095];
    for (unsigned i = 0; i < (two ? 3u : 5u); i++) acc += s[(t * (i + wide)) & 4095];
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
