// launch 1 32 n=77
// launch 1 46 n=2155905152
// launch 2 64 n=19088743
// The SIMD intrinsics of bytes and halves: comparisons to masks that decide activity, saturating sums, differences, a byte histogram, strlen by zero bytes.
extern "C" __global__ void k9354(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned v[65];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 65; k += T) v[k] = k * 0x03050709u ^ n;
    __syncthreads();
    unsigned a = v[t], b = v[64 - t], m = __vcmpgtu4(a, b), h = __vcmpgts2(a, b);
    acc += s[(__vadd4(a, b) ^ __vsub2(a, b) >> 9) & 1023];
    if (m & 0xFF) acc += s[(a & 255) * 4]; if (m & 0xFF00) s[(b >> 8 & 255) * 2] = acc; if (m >> 24) acc += s[(a >> 24) * 3];
    acc += s[(__popc(m) * 32 + __popc(h)) & 1023];
    acc += s[(__vaddss4(a, b) ^ __vsubus2(a, b) >> 13) & 1023];
    acc += s[__vsadu4(a, b) & 1023]; acc += s[__vsads2(a, b) >> 7 & 1023];
    acc += s[(__vabsdiffs4(a, b) + __vavgu2(a, b)) & 1023];
    if (__vseteq4(a & 0x0F0F0F0Fu, b & 0x0F0F0F0Fu)) s[(t * 16) & 1023] = acc;
    unsigned mx = __vmaxs2(a, b), mn = __vminu4(a, b); acc += s[(mx >> 22) & 1023]; acc += s[(mn * 5 >> 3) & 1023];
    unsigned neg = __vneg4(a), ab = __vabsss2(b); acc += s[(neg >> 7 ^ ab) & 1023];
    unsigned length = 0;
    for (unsigned k = 0; k < 8; k++) { unsigned w = v[(t + k) & 63] & 0x3F3F3F3Fu, zero = __vcmpeq4(w, 0); if (zero) { length += (__ffs((int)zero) - 1) >> 3; break; } length += 4; acc += s[(w ^ k * 32) & 1023]; }
    acc += s[(length * 32 + (t & 7)) & 1023];
    unsigned counts = 0;
    for (unsigned k = 0; k < 6; k++) counts = __vadd4(counts, __vsetltu4(v[(t * k) & 63], 0x80604020u));
    acc += s[(counts * 0x01010101u >> 24) * 16 & 1023];
    unsigned sel = __vcmpleu2(a, 0x00800080u) & a | ~__vcmpleu2(a, 0x00800080u) & b; s[(sel >> 6) & 1023] = acc;
    acc += s[__vhaddu4(a, b) >> 22];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
