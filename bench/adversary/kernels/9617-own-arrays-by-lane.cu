// launch 1 64 n=5
// launch 1 19 n=2
// launch 2 32 n=11
// Local arrays of words, bytes, half-words and doubles whose index differs by lane, depends on n, on a loop, on data.
extern "C" __global__ void k9617(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0;
    unsigned w[24]; unsigned char b[40]; unsigned short h[20]; double d[9];
    for (unsigned i = 0; i < 24; i++) w[(i + t) % 24] = i * t;
    for (unsigned i = 0; i < 40; i++) b[i ^ (t & 7)] = (unsigned char)(i + t);
    for (unsigned i = 0; i < 20; i++) h[i] = (unsigned short)(i * n);
    for (unsigned i = 0; i < 9; i++) d[8 - i] = i * 0.5 + t;
    for (unsigned i = 0; i < n; i++) acc += w[(i * t + 3) % 24] + b[(t * 5 + i) % 40] + h[(t ^ i) % 20] + (unsigned)d[(t + i) % 9];
    acc += w[t % 24] + w[n] + b[t % 40] + b[n] + h[t / 4 % 20] + (unsigned)d[t & 7] + w[src[t] % 24] + b[src[n] % 40];
    if (t & 1) { w[t % 13] = acc; b[39 - t % 40] = 1; } else d[t % 5] = acc;
    out[g] = acc + w[(t + 1) % 24] + b[(acc & 1)] + (unsigned)d[1] + h[t & 15];
}
