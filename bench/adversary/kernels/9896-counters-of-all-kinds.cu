// launch 2 64 n=7
// launch 1 111 n=30
// launch 3x2 8x8x2 n=255
// launch 1 48 n=0
// Loops whose counters are bytes that wrap, 64-bit, floating, halved or multiplied, some with no trip for some lanes; chains of
// && and || and ternaries with shared loads in the conditions, predicated stores, and unrolled loops with remainders.
extern "C" __global__ void k9896(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024], links[256], cells[1024], loose[128];
    __shared__ unsigned char flags[256];
    __shared__ float levels[96];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, w = t >> 5, block = blockIdx.x + gridDim.x * blockIdx.y;
    for (unsigned i = t; i < 1024; i += T) { s[i] = i * 5 + (i >> 5); cells[i] = i; }
    for (unsigned i = t; i < 256; i += T) { links[i] = i * 37 + n; flags[i] = i * 3 + (i >> 4); }
    for (unsigned i = t; i < 128; i += T) loose[i] = src[i * 2 + block];
    for (unsigned i = t; i < 96; i += T) levels[i] = i * 0.75f;
    __syncthreads();

    unsigned acc = block, noise = 0;
    for (float x = 0.5f * (lane & 7); x < 4.5f; x += 1.25f) acc += s[((unsigned)(x * 4) * 8 + lane) & 1023];
    for (unsigned char c = 250 - lane; c != (unsigned char)(lane & 3); ++c)
        if (c & 8) acc ^= flags[c];
    for (long long k = 3ll * lane - 20; k >= 0; k -= 17) acc += s[(unsigned)k * 8 & 1023];
    for (unsigned m = lane + w; m < 300; m = m * 3 + 1) {
        if (m % 4 == 2) continue;
        acc += s[m * 2];
    }
    for (float x = levels[lane]; x > 3.0f + (w & 3); x = x * 0.5f - 1.0f) acc += s[(unsigned)x * 32 + w];
    short down = 5 - (short)(lane % 7);
    while (down-- > 0) acc += links[(n + down * lane) & 255];

#pragma unroll 4
    for (unsigned i = 0; i < n % 23 + (lane & 3); ++i) acc += s[(i * 32 + lane * (i & 3)) & 1023];
    __syncthreads();
#pragma unroll 3
    for (int i = (int)(n % 10) - 2; i > (int)(w & 1); --i) cells[t * 2 + (i & 1)] = acc + i;
    __syncthreads();

    for (unsigned i = 0; i < 4; ++i) {
        const unsigned a = (acc + i) & 255, b = lane * 8 + i;
        if ((flags[a] & 1 && s[b] % 3) || (links[(a * 2 + lane) & 255] & 2 && !(cells[b] & 4 || flags[b & 255] > 90)))
            acc += s[(b * 3) & 1023];
        const unsigned v = acc & 1 ? s[(lane * 16 + i) & 1023] : lane & 4 ? cells[a] : b;
        acc += v > 300 ? flags[(v + lane * 4) & 255] : v;
        if (loose[(t + i) & 127] % 3 == 1 || (i & 1 && loose[(lane * 4 + i) & 127] & 8)) noise += s[(lane * 2 + i) & 1023];
    }
    unsigned p = lane;
    unsigned char tries = 0;
    while (tries < 12 + (lane & 3) && s[p & 1023] % 13 != lane % 13 && (flags[p & 255] & 3 || lane & 1)) {
        p = links[p & 255] + tries++;
        if (p & 64) { tries += 2; continue; }
        acc += p;
    }
    __syncthreads();

    for (unsigned i = lane & 1; i < 3; ++i)
        for (int j = (int)(lane % 5) - 1; j >= 0; --j) {
            if ((acc + j + w) % 6 == 0) continue;
            for (unsigned k = 1; k < 8u + i; k <<= 1 + (lane >> 4)) {
                acc += s[(i * 256 + j * 33 + k * lane) & 1023];
                if ((acc & 31) == 7) break;
                if ((k & lane) != 0) cells[t * 2 + (k > 2)] = acc;
            }
            if (acc % 19 == i) goto counted;
        }
counted:
    __syncthreads();
    unsigned limit = 1;
    for (float x = fabsf(f); x > 1.0f && limit < 6; x *= 0.5f) ++limit;
    for (unsigned char k = 0; k < limit; ++k) noise += s[(k * lane + 7) & 1023];
    for (unsigned long long m = 1; m < 1ull << (8 + (lane & 31)); m *= 5 + (lane & 1) * 20) acc += s[(unsigned)(m >> (lane / 2)) & 1023];
    if (acc & 2) acc += cells[(t * 2 + 2) % (T * 2)];
    if (lane % 4 == 1 || (noise & 1 && acc > 9)) noise += cells[(acc & 31) * 32];
    out[block * T + t] = acc + noise;
}
