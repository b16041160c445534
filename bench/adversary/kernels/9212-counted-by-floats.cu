// launch 1 32 n=1
// launch 2 64 n=5
// launch 1 36 n=3
// Loops by float counters whose trips depend on rounding: tenths, thirds, absorbed ones, infinities, NaN and halves of denormals.
extern "C" __global__ void k9212(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = k; }
    __syncthreads();
    unsigned c = 0;
    for (float x = 0.0f; x < 0.7f; x += 0.1f) { acc += s[(l * 2 + c) & 1023]; c++; }
    s[(l * c) & 1023] = acc;
    c = 0;
    for (float x = 16777212.0f + (float)(l & 3); x + 1.0f != x && c < 9; x += 1.0f) { c++; acc += s[(l + c * 32) & 1023]; }
    s[(l * (c + 1)) & 1023] = c;
    c = 0;
    for (float x = (float)l + 0.5f; x > 0.3f * f; x = x / 3.0f) { s[(l * 4 + c) & 1023] = c; c += 2; }
    acc += s[(l * c) & 1023];
    for (float x = 1e-44f * (float)(1 + (l & 7)); x > 0.0f; x *= 0.5f) acc += s[(l * 3) & 1023];
    c = 0;
    for (float x = (float)(l & 1) - 0.5f, y = x; !(y != y) && c < 8; y = y * 1e20f - (c > 1 ? y * 1e20f : 0.0f)) { c++; s[(l * 8 + c) & 1023] = 1; }
    acc += s[(l * c + 1) & 1023];
    c = 0;
    for (double d = 1.0; d < 1.3 + 0.01 * l; d += 0.1) c++;
    acc += s[(c * l) & 1023];
    c = 0;
    for (float x = 0.0f; x <= 1.0f; x += 1.0f / (float)(3 + (l & 7))) c++;
    s[(c * l) & 1023] = acc;
    c = 0;
    for (float x = f; __float_as_uint(x) & 0x7f800000; x = __fmul_rz(x, __uint_as_float(0x3b000000 + (l << 18)))) c++;
    acc += s[(c * 2 + l * (c & 3)) & 1023];
    if (n < 4) for (float x = -0.0f; 1.0f / x < 0.0f; x = l & 1 ? 0.0f : -x) acc += s[(l * 7) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
