// launch 1 32 n=3
// launch 2 9x9 n=11
// launch 1 128 n=1000
// Triangular and square indices by exact roots and reciprocals, corrected by one where the root was off; rows of a packed triangle; an integer root by Newton.
extern "C" __global__ void k9331(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned short first[48];
    unsigned T = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = t; k < 48; k += T) first[k] = (unsigned short)(k * (k + 1) / 2);
    __syncthreads();
    unsigned i = (t * 7 + n) % 1000;
    unsigned row = (unsigned)((__fsqrt_rn(8.0f * (float)i + 1.0f) - 1.0f) * 0.5f);
    if (first[row] > i) { row--; acc += s[row]; }
    if (first[row + 1] <= i) { row++; acc += s[row * 2]; }
    unsigned col = i - first[row];
    acc += s[(row * 32 + col) & 1023];
    acc += s[(col * 33 + row) & 1023];
    unsigned square = (unsigned)__fsqrt_rd((float)(i * i)), above = (unsigned)__fsqrt_ru((float)(i * i + 1));
    acc += s[square & 1023];
    s[(above * 4) & 1023] = acc;
    float inverse = __frcp_rn((float)(col + 1)), rs = __frsqrt_rn((float)(row + 1));
    acc += s[(unsigned)(inverse * 1024.0f) & 1023];
    acc += s[(unsigned)(rs * rs * 1000.0f) & 1023];
    if (inverse * (float)(col + 1) != 1.0f) acc += s[(t * 8) & 1023];
    unsigned big = i * i * 1021u + t, x = 1u << (33 - __clz((int)big)) / 2, steps = 0;
    if (big) for (;;) { unsigned y = (x + big / x) >> 1; if (y >= x) break; x = y; steps++; acc += s[(x + steps * 16) & 1023]; }
    double cube = (double)i * (double)i * (double)i;
    unsigned third = (unsigned)(__dsqrt_rn(cube) / (double)(row + 1));
    acc += s[third & 1023];
    unsigned level = 0; for (unsigned k = t + 1; k > 1; k = (unsigned)sqrtf((float)k)) { s[(k * 16 + level) & 1023] = acc; level++; }
    float hyp = sqrtf((float)(row * row) + (float)(col * col));
    acc += s[(unsigned)(hyp * 16.0f) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
