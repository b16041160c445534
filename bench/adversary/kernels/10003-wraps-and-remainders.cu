// launch 2 64 n=11
// launch 1 8x8 n=513
// launch 3 75 n=4000
// Signed division and remainder of unknown values of either sign, divisors that memory tells, indices that wrap at 8, 16 and 32 bits, guards and loops that only a wrap enters.
extern "C" __global__ void k10003(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ int den[4];
    const unsigned t = threadIdx.x + threadIdx.y * blockDim.x, threads = blockDim.x * blockDim.y, lane = t & 31;
    for (unsigned i = t; i < 1024; i += threads) s[i] = i * 5;
    if (t < 4) den[t] = (int)(src[(n * 3 + t) & 4095] & 7) * (t & 1 ? -1 : 1) + (t & 1 ? -2 : 2);
    __syncthreads();
    const unsigned raw = src[(t * 17 + n + blockIdx.x) & 4095];
    const int v = (int)raw - 512;
    unsigned acc = 0;
    acc += s[512 + v % 7 * 32];
    acc ^= s[512 + v % 13 * 32 + v % 2];
    acc += s[(unsigned)(v / 7) * 32 & 1023];
    acc ^= s[(unsigned)(v / -5 * 32 + (int)lane) & 1023];
    acc += s[512 + v / 3 % 5 * 64];
    acc ^= s[(unsigned)(v % 8 + 8) * 32];
    acc += s[(unsigned)(v / 8) * 32 & 1023];
    acc ^= s[(unsigned)(v >> 3) * 32 & 1023];
    acc += s[(unsigned)abs(v) * 32 & 1023];
    for (unsigned i = 0; i < 4; i++) {
        const int d = den[i], m = v % d;
        acc += s[512 + m * 32];
        acc ^= s[(unsigned)((m + d) % d + 16) * 32];
        acc += s[(unsigned)(v / d) * 33 & 1023];
        acc ^= s[(unsigned)((int)t % d + 16) * 32 + (lane & 3)];
        if (m < 0) acc += s[lane * 32 + i];
        if ((m ^ d) < 0) acc += s[lane * 16 + i];
    }
    const unsigned short w = (unsigned short)(raw * 4099 + lane * 4096);
    acc += s[w >> 6];
    acc ^= s[(unsigned short)(w + 0x8000) >> 11 << 5];
    const short sw = (short)w;
    acc += s[512 + sw / 2048 * 32];
    acc ^= s[512 + (signed char)(raw + lane * 4) * 4];
    acc += s[(unsigned char)(lane * 24 + raw) * 4];

    const unsigned u = 0xffffff00u + lane * 16 + (raw & 0x7f);
    acc += s[(u >> 3 & 31) * 32];
    if (u < 64) acc += s[u * 16];
    if (u + 64 < u) acc ^= s[lane * 32];
    if ((int)u < 0) acc += s[(lane & 7) * 128];
    else acc += s[lane * 2 + 1];
    for (unsigned short i = (unsigned short)(65530 + (raw & 3)); i != 4; ++i) acc += s[(i * lane * 8) & 1023];
    const unsigned from = 0xfffffff0u + lane, step = (src[n & 4095] & 3) * 2 + 1;
    for (unsigned i = from; i != from + 5 * step; i += step) acc ^= s[(i << 5 | i >> 30) & 1023];
    for (unsigned i = from; i > 0xfffffff7u; i += step) acc += s[lane * 32];
    for (int i = v; i < 300; i += 300) acc += s[(unsigned)(i + 512) * 32 & 1023];
    for (unsigned char c = (unsigned char)(raw & 1); (signed char)c >= 0; c += 13) acc ^= s[c * 8 & 1023];
    const unsigned hash = raw * 0x9e3779b1u;
    acc += s[hash >> 22];
    acc += s[__umulhi(hash, 31) * 32];
    acc ^= s[(hash % 33u % 32u) * 32];
    acc += s[hash / 0x08000000u * 32 % 992u];
    out[(blockIdx.x * threads + t) & 4095] = acc;
}
