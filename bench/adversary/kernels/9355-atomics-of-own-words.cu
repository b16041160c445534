// launch 1 32 n=5
// launch 1 57 n=2
// launch 2 64 n=40
// Atomics on u64, s32 and f32 words of one lane each, or with operands that make the order immaterial: inc and dec that wrap, min, max, a loop of CAS; results are addresses.
extern "C" __global__ void k9355(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned u[64]; __shared__ int i[64]; __shared__ float g[64]; __shared__ unsigned long long w[64]; __shared__ unsigned total[8];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0, q = (t * 5 + 1) % T;
    if (T % 5 == 0) q = T - 1 - t;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    u[t] = t % 7; i[t] = (int)t - 20; g[t] = (float)t * f; w[t] = (unsigned long long)t << 33 | n; if (t < 8) total[t] = 0;
    __syncthreads();
    unsigned a = atomicInc(&u[q], n); acc += s[(a * 32 + atomicInc(&u[q], n)) & 1023];
    a = atomicDec(&u[q], 50); acc += s[(a * 4 + u[q]) & 1023];
    a = atomicDec(&u[q], 2); s[(u[q] * 64 + a) & 1023] = acc;
    int m = atomicMin(&i[q], -3); acc += s[(unsigned)(m * 8 + i[q] + 512) & 1023]; m = atomicMax(&i[q], 5); if (m == -3) acc += s[(t * 16) & 1023];
    float x = atomicAdd(&g[q], 0.25f); x += atomicExch(&g[q], x * 2.0f); acc += s[(unsigned)(x * 2.0f + g[q]) & 1023];
    unsigned long long b = atomicAdd(&w[q], 0x2FFFFFFFFull); b ^= atomicMax(&w[q], 40ull << 33); acc += s[(unsigned)(w[q] >> 31 ^ b) & 1023];
    b = atomicXor(&w[q], b << 3); b = atomicAnd(&w[q], 0xFFFF00FF0Full); acc += s[(unsigned)(atomicExch(&w[q], 9ull) >> 2) & 1023];
    unsigned old = u[q], seen; unsigned tries = 0; do { seen = old; old = atomicCAS(&u[q], seen ^ (tries < (t & 3)), seen + t); tries++; } while (old != seen || tries <= (t & 3)); acc += s[(tries * 128 + u[q]) & 1023];
    __syncthreads();
    atomicAdd(&total[t & 7], t); atomicOr(&total[(t & 3) ^ 4], 0u); __syncthreads(); atomicMax(&total[7], 500u);
    __syncthreads();
    acc += s[(total[t & 3] * 3) & 1023]; acc += s[(total[t % 6 + 1] + t * 2) & 1023];
    if (total[t & 7] % 3 == 1) s[(total[t & 1] + t * 8) & 1023] = acc;
    for (unsigned k = 0; k < (total[7] & 3) + 1; k++) acc += s[(t * 4 + k * 33) & 1023];
    atomicXor(&total[t & 7], 1u << (t >> 3)); atomicAdd((float*)&g[t & 15], 1.0f); __syncthreads();
    acc += s[(total[t & 7] ^ (unsigned)g[t & 15]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
